//! Chat templates as they are published with models: Jinja, rendered as transformers does it, with its methods of Python
//! strings, blocks trimmed, loop controls. What a template can spend is bounded. Knows no model.
//!
//! Contents are put in as marks and never as text, so that nothing in them is read as part of the template's own markup:
//! the caller replaces the marks by tokens of plain text.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Value;
use minijinja::{Environment, ErrorKind};

/// Steps that a rendering may take.
const FUEL: u64 = 1_000_000;
/// Marks stand in a private plane of Unicode that no model's template uses.
const OPEN: char = '\u{F0000}';
const CLOSE: char = '\u{F0001}';

/// A template that can be rendered.
pub(super) struct Chat(Environment<'static>);

impl Chat {
    /// Reads the text of a template.
    pub(super) fn new(source: &str) -> Result<Self, String> {
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.map_err(|error| refusal(&error))?);
        environment.set_fuel(Some(FUEL));
        environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        environment.add_function("raise_exception", |reason: String| -> Result<Value, minijinja::Error> {
            Err(minijinja::Error::new(ErrorKind::InvalidOperation, reason))
        });
        environment.add_template_owned("chat", source.to_owned()).map_err(|error| refusal(&error))?;
        Ok(Self(environment))
    }

    /// The text that the template makes of `context`.
    pub(super) fn render(&self, context: Value) -> Result<String, String> {
        let template = self.0.get_template("chat").map_err(|error| refusal(&error))?;
        template.render(context).map_err(|error| refusal(&error))
    }
}

/// What stands for the content of a number.
pub(super) fn mark(index: usize) -> String {
    format!("{OPEN}{index}{CLOSE}")
}

/// Whether a mark, or a part of one, is left in `text`.
pub(super) fn is_marked(text: &str) -> bool {
    text.contains([OPEN, CLOSE])
}

fn refusal(error: &minijinja::Error) -> String {
    format!("its chat template cannot be used: {error}")
}
