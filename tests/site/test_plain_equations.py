import pytest

plain_equations = pytest.importorskip("plain_equations")


def squeezed(latex):
    return latex.replace(" ", "")


@pytest.mark.parametrize(
    ("plain", "latex"),
    [
        ("W_q,h x_t^2", "W_{q,h}x_{t}^{2}"),
        ("h_{a_{i-1}}", "h_{a_{i-1}}"),
        ("a_<i", r"a_{\lti}"),
        ("A_m,i+s", "A_{m,i+s}"),
        ("R_all + logit_ij", r"R_{\mathrm{all}}+\mathrm{logit}_{ij}"),
        ("K^T D^-1/2", r"K^{\top}D^{-1/2}"),
        ("h~_t f^ g'", r"\tildeh_{t}\hatfg'"),
        ("q . k * v", r"q\cdotk\odotv"),
        ("tanh(x) softmax_s(y)", r"\tanh(x)\,\mathrm{softmax}_{s}(y)"),
        ("alpha x^alpha", r"\alphax^{\alpha}"),
        ("a / (b + c)", "a/(b+c)"),
        ("2U/C", "2U/C"),
        ("KL(P || Q), p(y | x)", r"\mathrm{KL}(P\parallelQ),p(y\midx)"),
        ("0 <= i < n", r"0\lei\ltn"),
        ("1 - label_smoothing", r"1-\text{label_smoothing}"),
        ("[x_1, ..., x_n]", r"[x_{1},\ldots,x_{n}]"),
    ],
)
def test_notation(plain, latex):
    assert squeezed(plain_equations.inline(plain)) == latex


@pytest.mark.parametrize(
    ("plain", "latex"),
    [
        ("x + a b / c", r"x+\frac{ab}{c}"),
        ("(a + b) / (c + d)", r"\frac{a+b}{c+d}"),
        ("(a)(b) / f(c)", r"\frac{(a)(b)}{f(c)}"),
        ("sum_i a . b / sqrt(n d)", r"\sum_{i}\frac{a\cdotb}{\sqrt{nd}}"),
        ("1/2 x", r"\frac{1}{2}x"),
        ("(a / b)^T", r"\left(\frac{a}{b}\right)^{\top}"),
        ("a = b,  c = d", r"a=b,\qquadc=d"),
        ("    a = b\n      + c", "a=b+c"),
        (
            "    a = b\n      = c\n    d = e",
            r"\begin{aligned}a&=b\\&=c\\d&=e\end{aligned}",
        ),
        ("one-way, both:  a = b", r"\text{one-way,both:}\quada=b"),
    ],
)
def test_equations_on_lines_of_their_own(plain, latex):
    assert squeezed(plain_equations.display(plain)) == latex


@pytest.mark.parametrize(
    "text", ["a % b", "(a", "a)", "/ b", "a / ", "a.b", "model.fit(x)", "these are words", "x_"]
)
def test_what_is_not_in_the_notation_is_an_error(text):
    with pytest.raises(ValueError, match="in the equation"):
        plain_equations.display(text)
