std = "luajit"
cache = false
max_line_length = 100
max_comment_line_length = 120
read_globals = { "vim" }
globals = { "vim.g", "vim.b", "vim.w", "vim.o", "vim.bo", "vim.wo", "vim.opt_local", "vim.ui" }
