from t2t_phrase.training.pace import UPDATE, Pace, State

LIMIT = 100.0


def pace():
    return Pace(lambda worker: f"worker {worker}", LIMIT)


def test_a_worker_that_is_behind():
    watched = pace()
    states = {0: State(8, UPDATE), 1: State(7, UPDATE), 2: State(8, UPDATE)}
    said = [watched.warnings(states, now) for now in range(0, 50)]
    waiting = "worker 1 has kept the others waiting for {} s (it is at step 7)"
    # Each time after twice as long.
    expected = {10: [waiting.format(10)], 20: [waiting.format(20)], 40: [waiting.format(40)]}
    assert said == [expected.get(now, []) for now in range(0, 50)]
    assert watched.stuck(states, LIMIT - 1) == ""
    assert watched.stuck(states, LIMIT) == "worker 1 is alive, but has been at step 7 for 100 s"


def test_a_worker_that_moves_on_is_not_behind():
    watched = pace()
    for now in range(200):
        # Always seen one step behind.
        states = {0: State(now + 1, UPDATE), 1: State(now, UPDATE)}
        assert watched.warnings(states, now) == [] and watched.stuck(states, now) == ""


def test_evaluations_and_the_start_take_their_time():
    watched = pace()
    for state in (State(7, "evaluation"), State(7, "saving"), State()):
        states = {0: state, 1: State(8, UPDATE)}
        for now in (0.0, 10 * LIMIT):
            assert watched.warnings(states, now) == [] and watched.stuck(states, now) == ""


def test_a_slow_worker_is_named_again_only_where_it_is_worse():
    watched = pace()

    def warnings(seconds):
        states = {i: State(9, UPDATE, s) for i, s in enumerate(seconds)}
        return watched.warnings(states, 0.0)

    assert warnings([0.2, 0.2, 0.29]) == []
    assert warnings([0.2, 0.3, 0.5]) == [
        "worker 2 is the slowest: its part of an update takes 0.5 s, that of the others 0.25 s, "
        "and all wait for it"
    ]
    assert warnings([0.2, 0.3, 0.6]) == []
    assert "takes 2 s" in warnings([0.2, 0.3, 2.0])[0]
    # Nothing is said before all are known.
    assert pace().warnings({0: State(9, UPDATE, 0.1), 1: State(9, UPDATE)}, 0.0) == []
