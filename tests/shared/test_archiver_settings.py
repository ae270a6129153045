"""`[archiver]`: what neither Spark nor its JVM takes is refused when settings are read."""

import pytest
from pydantic import ValidationError
from warren.settings import ArchiverSettings


@pytest.mark.parametrize(
    "master",
    [
        "local",
        "local[2]",
        "local[*]",
        "local[4,3]",
        "local[*, 3]",
        "local-cluster[2,1,1024]",
        "spark://10.0.0.7:7077",
        "spark://a:7077,b:7077",
        "spark://[::1]:7077",
        "k8s://https://cluster:6443",
        "yarn",
    ],
)
def test_masters_that_spark_knows_are_taken(master: str) -> None:
    assert ArchiverSettings(master=master).master == master


@pytest.mark.parametrize(
    "master",
    ["", "lokal[2]", "local[0]", "local[]", "local[2", "local 2", "spark://a", "k8s://", "7077"],
)
def test_other_masters_are_refused_with_the_forms(master: str) -> None:
    with pytest.raises(ValidationError, match=r"a master of Spark: local\[2\], spark://host:7077"):
        ArchiverSettings(master=master)


@pytest.mark.parametrize("memory", ["512m", "1g", "2G", "700M", "524288k", "1t", "536870912"])
def test_sizes_that_a_jvm_starts_with_are_taken(memory: str) -> None:
    assert ArchiverSettings(memory=memory).memory == memory


@pytest.mark.parametrize(
    "memory", ["", "lots", "1k", "511m", "1", "1.5g", "-1g", "1gb", "0g", "1 g", "9999t", "٣g"]
)
def test_other_sizes_are_refused(memory: str) -> None:
    with pytest.raises(ValidationError, match=r"from 512m to 64t, such as 1g"):
        ArchiverSettings(memory=memory)


@pytest.mark.parametrize(("every", "is_fine"), [(0, True), (10, True), (0.001, False), (9, False)])
def test_passes_begin_at_most_each_ten_seconds(every: float, is_fine: bool) -> None:
    if is_fine:
        assert ArchiverSettings(every=every).every == every
        return
    with pytest.raises(ValidationError, match="0, or 10 and more"):
        ArchiverSettings(every=every)
