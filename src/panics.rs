//! What a caught panic said.

use std::any::Any;

/// The message of a panic's payload, as `catch_unwind` and a joined thread return it.
pub fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use std::any::Any;
    use std::panic::catch_unwind;

    #[test]
    fn every_kind_of_panic_has_a_message() {
        let said = |payload: Box<dyn Any + Send>| super::message(&*payload);
        let number = 7;
        assert_eq!(said(catch_unwind(|| panic!("plain")).expect_err("a panic")), "plain");
        assert_eq!(said(catch_unwind(|| panic!("number {number}")).expect_err("a panic")), "number 7");
        let odd = catch_unwind(|| std::panic::panic_any(7)).expect_err("a panic");
        assert_eq!(said(odd), "a panic without a message");
    }
}
