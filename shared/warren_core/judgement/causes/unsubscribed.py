"""Cause: no member subscribes to the topic any more, and its offsets are still committed."""

from warren.path_segments import segment
from warren.words import grouped, records, shell_word

from warren_core.judgement.causes.catalogue import BOOTSTRAP, Found, cause, found
from warren_core.judgement.facts import Facts


@cause(
    "root",
    5,
    "No member subscribes to the topic",
    "all that is not OK is of topics to which no member has subscribed for three minutes, though "
    "their offsets are still committed, and which nobody has committed since",
)
def unsubscribed(facts: Facts) -> Found | None:
    rows = facts.unsubscribed
    if facts.bad or not rows:
        return None
    topics = sorted({topic for topic, _ in facts.names(rows)})
    more = f" and {grouped(len(topics) - 1)} more topics" if len(topics) > 1 else ""
    unread = sum(max(int(facts.lag[row]), 0) for row in rows)
    topic, group = topics[0], facts.group
    path = "/".join(map(segment, (facts.cluster, "consumer", group, "topic", topic)))
    return found(
        f"No member subscribes to {topic}{more} any more; {records(unread)} "
        f"{'stays' if unread == 1 else 'stay'} unread",
        "If a consumer of it has died, start it. Else subscribe again, or delete the committed "
        "offsets: kafka-consumer-groups "
        f"{BOOTSTRAP} --delete-offsets --group {shell_word(group)} --topic {shell_word(topic)}; "
        f"or let Warren forget them: DELETE /v3/kafka/{path}",
        topic=topic,
        partition=facts.names(rows)[0][1],
        partitions=len(rows),
    )
