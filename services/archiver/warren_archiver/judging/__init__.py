"""Offset events of bronze judged again, by the evaluator's own judgement."""
