"""What the time of a call is attributed to."""

from operation_times import Event, Kind, kinds_of


def test_the_time_of_operations_within_others_counts_once() -> None:
    first = [
        Event("run", 0, 100 * 10**12),
        Event("call:PartitionedCall", 0, 10 * 10**12),
        Event("a/MatMul_1:MatMul", 1 * 10**12, 3 * 10**12),
        Event("b:Mul", 4 * 10**12, 1 * 10**12),
        Event("c:Mul", 11 * 10**12, 2 * 10**12),
        Event("ExecutorState::Process", 0, 50 * 10**12),
    ]
    second = [Event("d:_MklMatMul", 0, 4 * 10**12), Event("e:Mul", 0, 5 * 10**12)]
    assert sorted(kinds_of([first, second])) == [
        Kind("MatMul", 1, 3.0),
        Kind("Mul", 3, 4.0),
        Kind("PartitionedCall", 1, 6.0),
        Kind("_MklMatMul", 1, 4.0),
    ]
