// Formats Lua files with StyLua's WebAssembly build and the options of stylua.toml.
// Without --write it names the files that would change and fails.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(new URL("../.venv/", import.meta.url));
const stylua = require("@johnnymorganz/stylua");

function config() {
  const text = readFileSync("stylua.toml", "utf8");
  const value = (key) => text.match(new RegExp(`^${key}\\s*=\\s*"?(\\w+)"?`, "m"))?.[1];
  const chosen = stylua.Config.new();
  chosen.column_width = Number(value("column_width"));
  chosen.indent_type = stylua.IndentType[value("indent_type")];
  chosen.indent_width = Number(value("indent_width"));
  chosen.quote_style = stylua.QuoteStyle[value("quote_style")];
  chosen.sort_requires.set_enabled(value("enabled") === "true");
  return chosen;
}

function luaFiles(path) {
  if (statSync(path).isFile()) return path.endsWith(".lua") ? [path] : [];
  return readdirSync(path).flatMap((name) => luaFiles(join(path, name)));
}

const write = process.argv[2] === "--write";
const paths = process.argv.slice(write ? 3 : 2).flatMap(luaFiles);
const changed = paths.filter((path) => {
  const before = readFileSync(path, "utf8");
  const after = stylua.formatCode(before, config(), undefined, stylua.OutputVerification.Full);
  if (write && after !== before) writeFileSync(path, after);
  return after !== before;
});
for (const path of changed) console.log(`${write ? "formatted" : "would format"} ${path}`);
process.exit(write || changed.length === 0 ? 0 : 1);
