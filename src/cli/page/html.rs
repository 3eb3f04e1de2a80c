//! Text that cannot become markup.

use std::fmt::{self, Write as _};

/// Shows a text with `& < > " '` escaped, for content and quoted attributes; control characters become spaces.
pub(in crate::cli) struct Escaped<'a>(pub(in crate::cli) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c if c.is_control() && c != '\n' => f.write_char(' ')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        let hostile = "<script>alert('x')</script> \"&amp;\"\0\n";
        let due = "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &quot;&amp;amp;&quot; \n";
        assert_eq!(Escaped(hostile).to_string(), due);
        assert_eq!(Escaped("Grüße, 3 > 2").to_string(), "Grüße, 3 &gt; 2");
    }
}
