"""The tools: a web search, an encyclopaedia and a calculator. The world they know is the table below."""

import ast
import operator
from collections.abc import Callable

import spanscore_instrumentation as si

PAGES = {
    "hellofresh ceo": [
        {
            "url": "https://investors.example.com/hellofresh/management",
            "text": "Dominik Richter is chief executive of HelloFresh SE, the company he co-founded in 2011.",
        }
    ],
    "hellofresh revenue": [
        {
            "url": "https://investors.example.com/hellofresh/annual-report",
            "text": "HelloFresh reported revenue of 7,661 million for the financial year.",
        }
    ],
    "gousto revenue": [
        {
            "url": "https://filings.example.com/gousto/accounts",
            "text": "Gousto reported revenue of 308.4 million for the financial year.",
        }
    ],
    "uk meal-kit market size": [
        {
            "url": "https://research.example.com/meal-kits-uk",
            "text": "We put the UK meal-kit market at 1.47 billion.",
        },
        {
            "url": "https://trade.example.org/food-delivery",
            "text": "Meal kits in the UK were worth 1.62 billion, boxes for one person included.",
        },
    ],
}

ARTICLES = {
    "meal kit": "A meal-kit service sends customers portioned ingredients and a recipe, usually by subscription.",
    "france": "France is a country in western Europe. Its capital is Paris.",
}

_OPERATORS: dict[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
}


def _pages(query: str) -> list[dict[str, str]]:
    return PAGES.get(query, [])


def _article(title: str) -> str:
    return ARTICLES.get(title, "There is no article of this title.")


def _calculated(expression: str) -> float:
    return round(_value(ast.parse(expression, mode="eval").body), 4)


def _value(node: ast.AST) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.BinOp):
        return _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.UnaryOp):
        return _OPERATORS[type(node.op)](_value(node.operand))
    raise ValueError(f"{ast.unparse(node)} is no arithmetic")


TOOLS = {
    "search_web": si.mock_tool("search_web", _pages, description="Find pages about a query."),
    "wiki_lookup": si.mock_tool("wiki_lookup", _article, description="Read an article of the encyclopaedia."),
    "calculate": si.mock_tool("calculate", _calculated, description="Work out an arithmetic expression."),
}
