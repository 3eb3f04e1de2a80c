//! The chat template inside a GGUF file: messages to the text that the model was trained to read.
//!
//! Contents are marks ([`crate::models::chat`]); what is returned is what stands around them.

use minijinja::context;

use crate::models::chat::{Chat, is_marked, mark};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    System,
    User,
    Assistant,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// A template that can be rendered.
pub(super) struct Template {
    chat: Chat,
    begin: String,
    end: String,
}

impl Template {
    /// `begin` and `end` are what the file calls the tokens around a text.
    pub(super) fn new(source: &str, begin: &str, end: &str) -> Result<Self, String> {
        Ok(Self { chat: Chat::new(source)?, begin: begin.to_owned(), end: end.to_owned() })
    }

    /// The text before, between and after the contents of messages by `roles`, so that the model is to answer: one piece
    /// more than there are roles.
    pub(super) fn around(&self, roles: &[Role]) -> Result<Vec<String>, String> {
        let marked: Vec<(Role, String)> = roles.iter().enumerate().map(|(i, role)| (*role, mark(i))).collect();
        let text = match self.render(&marked) {
            // Templates that know no system message take it before the first question.
            Err(_) if roles.first() == Some(&Role::System) && roles.len() > 1 => {
                let first = (marked[1].0, format!("{}\n\n{}", marked[0].1, marked[1].1));
                self.render(&[&[first], &marked[2..]].concat())?
            }
            other => other?,
        };
        let mut pieces = Vec::with_capacity(roles.len() + 1);
        let mut rest = text.as_str();
        for (i, _) in roles.iter().enumerate() {
            let (before, after) = rest.split_once(&mark(i)).ok_or("its chat template drops or reorders messages")?;
            pieces.push(before.to_owned());
            rest = after;
        }
        pieces.push(rest.to_owned());
        if pieces.iter().any(|piece| is_marked(piece)) {
            return Err("its chat template repeats messages".to_owned());
        }
        Ok(pieces)
    }

    fn render(&self, messages: &[(Role, String)]) -> Result<String, String> {
        let message = |(role, content): &(Role, String)| context! { role => role.name(), content => content.as_str() };
        self.chat.render(context! {
            messages => messages.iter().map(message).collect::<Vec<_>>(),
            add_generation_prompt => true,
            // Qwen3 thinks aloud unless told not to, and the grammar has no place for it.
            enable_thinking => false,
            bos_token => self.begin.as_str(),
            eos_token => self.end.as_str(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As published with SmolLM2.
    const CHATML: &str = "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ \
        '<|im_start|>system\\nYou are a helpful AI assistant<|im_end|>\\n' }}{% endif %}{{'<|im_start|>' + message['role'] + \
        '\\n' + message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ \
        '<|im_start|>assistant\\n' }}{% endif %}";
    /// The turns of Gemma 3: no system turn, alternating roles, a beginning of its own.
    const GEMMA: &str = "{{ bos_token }}\n{%- if messages[0]['role'] == 'system' -%}\n    {{ raise_exception('no system') }}\n\
        {%- endif -%}\n{%- for message in messages -%}\n    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}\n\
        {{ raise_exception('alternate') }}\n    {%- endif -%}\n    {%- set role = 'model' if message['role'] == 'assistant' \
        else message['role'] -%}\n{{ '<start_of_turn>' + role + '\n' }}{{ message['content'].strip() }}{{ '<end_of_turn>\n' }}\n\
        {%- endfor -%}\n{%- if add_generation_prompt -%}\n    {{ '<start_of_turn>model\n' }}\n{%- endif -%}";

    #[test]
    fn turns_are_those_of_the_template() {
        let template = Template::new(CHATML, "", "<|im_end|>").expect("valid");
        let pieces = template.around(&[Role::System, Role::User, Role::Assistant, Role::User]).expect("renders");
        let turn = "<|im_end|>\n<|im_start|>";
        assert_eq!(
            pieces,
            [
                "<|im_start|>system\n".to_owned(),
                format!("{turn}user\n"),
                format!("{turn}assistant\n"),
                format!("{turn}user\n"),
                format!("{turn}assistant\n"),
            ]
        );
    }

    #[test]
    fn a_template_without_a_system_turn_takes_it_into_the_first_question() {
        let template = Template::new(GEMMA, "<bos>", "<eos>").expect("valid");
        let pieces = template.around(&[Role::System, Role::User, Role::Assistant, Role::User]).expect("renders");
        assert_eq!(
            pieces,
            [
                "<bos><start_of_turn>user\n",
                "\n\n",
                "<end_of_turn>\n<start_of_turn>model\n",
                "<end_of_turn>\n<start_of_turn>user\n",
                "<end_of_turn>\n<start_of_turn>model\n",
            ]
        );
    }

    #[derive(serde::Deserialize)]
    struct Rendered {
        template: String,
        begin: String,
        end: String,
        roles: Vec<String>,
        text: String,
    }

    #[test]
    fn published_templates_render_as_in_transformers() {
        let json = include_str!("../../../tests/fixtures/drafter/chats/rendered.json");
        let all: std::collections::BTreeMap<String, Rendered> = serde_json::from_str(json).expect("a fixture");
        assert_eq!(all.len(), 3);
        for (name, Rendered { template, begin, end, roles, text }) in all {
            let role = |role: &String| match role.as_str() {
                "system" => Role::System,
                "user" => Role::User,
                _ => Role::Assistant,
            };
            let roles: Vec<Role> = roles.iter().map(role).collect();
            let pieces = Template::new(&template, &begin, &end).and_then(|t| t.around(&roles)).expect("renders");
            let marks = (0..roles.len()).map(|i| format!("<<{i}>>")).chain([String::new()]);
            let whole: String = pieces.into_iter().zip(marks).flat_map(|(piece, mark)| [piece, mark]).collect();
            assert_eq!(whole, text, "{name}");
        }
    }

    #[test]
    fn what_cannot_be_rendered_is_an_error() {
        for (source, said) in [
            ("{% for %}", "cannot be used"),
            ("{{ raise_exception('never') }}", "never"),
            ("{{ nothing.there.either }}", "cannot be used"),
            (
                "{% for i in range(99999999) %}{% for j in range(999999999) %}x{% endfor %}{% endfor %}",
                "cannot be used",
            ),
            ("hello", "drops"),
            ("{{ messages[0].content }}{{ messages[0].content }}", "repeats"),
        ] {
            let error =
                Template::new(source, "", "").and_then(|template| template.around(&[Role::User])).expect_err(source);
            assert!(error.contains(said), "{source}: {error}");
        }
    }
}
