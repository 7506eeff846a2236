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
