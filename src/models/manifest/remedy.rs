//! What to run so that a file is there again. Pure.

use std::path::Path;

use super::Manifest;

/// The command that installs what comes from the repository `hub`, or from the packages, into `dir`.
pub fn fetch_command(hub: Option<&str>, dir: &Path) -> String {
    let dir = dir.display();
    match hub {
        None => format!("groundedvqa models fetch --dir {dir}"),
        Some(name) if Manifest::gpu().repositories.iter().any(|repository| repository.name == name) => {
            format!("groundedvqa models fetch --profile gpu --dir {dir} {name}")
        }
        Some(name) => format!("groundedvqa models fetch --manifest FILE --dir {dir} {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_brings_a_file_depends_on_where_it_comes_from() {
        let of = |hub| fetch_command(hub, Path::new("/m"));
        assert_eq!(of(None), "groundedvqa models fetch --dir /m");
        let known = "groundedvqa models fetch --profile gpu --dir /m Qwen/Qwen3-4B-GGUF";
        assert_eq!(of(Some("Qwen/Qwen3-4B-GGUF")), known);
        assert_eq!(of(Some("own/model")), "groundedvqa models fetch --manifest FILE --dir /m own/model");
    }
}
