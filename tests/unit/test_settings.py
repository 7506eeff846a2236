from typing import Any

from typstai.settings import parse

MODEL: dict[str, Any] = {"name": "m", "base_url": "http://127.0.0.1:1/v1", "model": "x"}


def test_no_options_give_the_defaults_and_no_problem() -> None:
    settings = parse({"mode": "edit"})
    assert settings.problems == ()
    assert (settings.mode, settings.approval, settings.models) == ("edit", "review", ())


def test_unknown_values_of_mode_and_approval_fall_back_to_the_strict_one() -> None:
    settings = parse({"mode": "all", "approval": "yes"})
    assert (settings.mode, settings.approval) == ("read", "review")


def test_a_wrong_model_is_a_problem_and_the_others_still_work() -> None:
    settings = parse({"models": [{"name": "broken"}, MODEL]})
    assert [model.name for model in settings.models] == ["m"]
    assert any(problem.startswith("models[1].base_url") for problem in settings.problems)


def test_two_models_of_one_name_are_a_problem() -> None:
    settings = parse({"models": [MODEL, MODEL]})
    assert len(settings.models) == 1
    assert "used twice" in settings.problems[0]


def test_an_empty_lua_table_is_an_empty_list_or_map() -> None:
    settings = parse({"tools": [], "typst": {"font_paths": {}}, "models": {}})
    assert settings.problems == ()


def test_a_problem_never_quotes_a_value() -> None:
    settings = parse({"models": [{**MODEL, "api_key": "sk-secret"}]})
    assert settings.problems
    assert "sk-secret" not in " ".join(settings.problems)


def test_an_unknown_option_is_named() -> None:
    settings = parse({"limits": {"tool_round": 3}})
    assert "limits.tool_round" in settings.problems[0]


def test_a_preset_may_stand_in_for_address_and_model() -> None:
    settings = parse({"models": [{"name": "m", "preset": "mistral"}]})
    assert settings.problems == ()
    (model,) = settings.models
    assert (model.preset, model.base_url, model.model) == ("mistral", "", "")
    assert (model.timeout, model.tools, model.vision, model.price) == (300, "native", None, None)


def test_prices_tools_and_keyrings_are_checked() -> None:
    price, ring = {"input": 1, "output": 2.5}, {"service": "s", "user": "u"}
    good = {**MODEL, "price": price, "tools": "text", "api_key": {"keyring": ring}}
    assert parse({"models": [good]}).problems == ()
    for wrong in ({"price": {"input": 1}}, {"price": {"input": -1, "output": 1}},
                  {"tools": "none"}, {"api_key": {"keyring": {"service": "s"}}}):  # fmt: skip
        (problem,) = parse({"models": [{**MODEL, **wrong}]}).problems
        assert problem.startswith(f"models[1].{next(iter(wrong))}")
