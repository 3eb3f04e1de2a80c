//! Finds the metric selectors in a PromQL expression. Not a parser: enough for the expressions of this repository,
//! whose metrics all begin with `gvqa_` or `process_` or are recorded under a name with colons.

/// A metric with its matchers and what stands around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Selector {
    /// The metric.
    pub(crate) name: String,
    /// Between the braces; empty without braces.
    pub(crate) matchers: String,
    /// Between the brackets after it, if any.
    pub(crate) range: Option<String>,
    /// The function it is the direct argument of, if any.
    pub(crate) function: String,
}

impl Selector {
    /// The instant selector.
    pub(crate) fn instant(&self) -> String {
        format!("{}{{{}}}", self.name, self.matchers)
    }

    /// Whether only its growth means something.
    pub(crate) fn is_counter(&self) -> bool {
        ["_total", "_bucket", "_sum", "_count"].iter().any(|end| self.name.ends_with(end))
    }

    /// The family in the exposition: histogram series without their suffix.
    pub(crate) fn family(&self) -> &str {
        let suffix = ["_bucket", "_sum", "_count"].iter().find_map(|end| self.name.strip_suffix(end));
        suffix.unwrap_or(&self.name)
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == ':'
}

fn is_metric(word: &str) -> bool {
    word.starts_with("gvqa_") || word.starts_with("process_") || (word.contains(':') && !word.starts_with(':'))
}

/// Every selector of `expr`, in order.
pub(crate) fn selectors(expr: &str) -> Vec<Selector> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = expr[at..].find(is_name).map(|offset| at + offset) {
        let end = expr[start..].find(|c| !is_name(c)).map_or(expr.len(), |offset| start + offset);
        at = end;
        if !is_metric(&expr[start..end]) {
            // A quoted label value is no metric, whatever it looks like.
            if expr[end..].starts_with(['"', '\'']) {
                at = end + 1;
            }
            continue;
        }
        let (matchers, rest) = enclosed(&expr[end..], '{', '}');
        let (range, rest) = enclosed(rest, '[', ']');
        at = expr.len() - rest.len();
        found.push(Selector {
            name: expr[start..end].to_owned(),
            matchers: matchers.unwrap_or_default().to_owned(),
            range: range.map(str::to_owned),
            function: function_before(&expr[..start]).to_owned(),
        });
    }
    found
}

/// What `text` holds between `open` and `close` if it begins with `open`, and what follows.
fn enclosed(text: &str, open: char, close: char) -> (Option<&str>, &str) {
    match text.strip_prefix(open).and_then(|inner| inner.split_once(close)) {
        Some((inside, rest)) => (Some(inside), rest),
        None => (None, text),
    }
}

fn function_before(text: &str) -> &str {
    let Some(call) = text.trim_end().strip_suffix('(') else { return "" };
    let start = call.rfind(|c| !is_name(c)).map_or(0, |at| at + 1);
    &call[start..]
}

#[test]
fn selectors_are_found_with_what_stands_around_them() {
    let expr = r#"sum by (le, job) (rate(gvqa_x_bucket{job=~"$job", a="gvqa_y"}[5m])) / a:gvqa_z:ratio > 0 and process_open_fds"#;
    let found = selectors(expr);
    let names: Vec<_> = found.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["gvqa_x_bucket", "a:gvqa_z:ratio", "process_open_fds"]);
    assert_eq!(found[0].function, "rate");
    assert_eq!(found[0].range.as_deref(), Some("5m"));
    assert_eq!(found[0].instant(), r#"gvqa_x_bucket{job=~"$job", a="gvqa_y"}"#);
    assert_eq!((found[0].family(), found[0].is_counter()), ("gvqa_x", true));
    assert_eq!((found[1].function.as_str(), found[1].range.as_deref()), ("", None));
}
