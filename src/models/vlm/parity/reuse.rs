//! One decoder, used again: after clearing, behind a prefix, for several questions about one picture.

use super::*;

const MODEL: &str = "qwen3-tied";

#[test]
fn a_second_use_is_like_the_first() {
    let (io, mut net) = (Io::of(MODEL), net(MODEL, "config.json", DType::F32));
    let seen = [seen(MODEL, &io, 0)];
    let (rows, next) = rows(&net, &io.rows("ids"), &seen);
    let features = net.look(&seen).expect("looks");
    let mut cache = Cache::default();
    let first = greedy(&net, &rows, next.clone(), &features, &mut cache);
    let without = greedy(&net, &rows, next.clone(), &features, &mut cache);
    assert_ne!(without, first, "a cache that was not cleared makes no difference");
    cache.clear();
    assert_eq!(greedy(&net, &rows, next, &features, &mut cache), first);
}

#[test]
fn a_prompt_read_in_parts_is_like_one_read_at_once() {
    let (io, mut net) = (Io::of(MODEL), net(MODEL, "config.json", DType::F32));
    let seen = [seen(MODEL, &io, 0)];
    let (rows, _) = rows(&net, &io.rows("ids"), &seen);
    let features = net.look(&seen).expect("looks");
    let whole = io.get("logits");
    let length = rows[0].ids.len();
    let part = |from: usize, to: usize| Row {
        ids: rows[0].ids[from..to].to_vec(),
        positions: rows[0].positions[from..to].to_vec(),
        features: rows[0].features[from..to].to_vec(),
    };
    let mut cache = Cache::default();
    // The second cut goes through the picture.
    for (from, to) in [(0, 3), (3, 10), (10, length - 1), (length - 1, length)] {
        let ours = logits(&net, &[part(from, to)], Some(&features), &mut cache).squeeze(0).expect("one row");
        let off = difference(&ours, &whole.narrow(0, from, to - from).expect("a part"));
        assert!(off < bound(LOGITS), "{from}..{to}: off by {off}");
    }
    cache.truncate(10);
    let again = logits(&net, &[part(10, length)], Some(&features), &mut cache).squeeze(0).expect("one row");
    let off = difference(&again, &whole.narrow(0, 10, length - 10).expect("a part"));
    assert!(off < bound(LOGITS), "after cutting back: off by {off}");
}

#[test]
fn questions_behind_one_prefix_are_like_whole_prompts() {
    let (io, mut net) = (Io::of(MODEL), net(MODEL, "config.json", DType::F32));
    let seen = [seen(MODEL, &io, 0)];
    let whole = io.rows("ids").remove(0);
    let features = net.look(&seen).expect("looks");
    // Up to and with the end of the picture.
    let cut = whole.iter().position(|id| *id == 504).expect("the end of the picture") + 1;
    let questions = [whole[cut..].to_vec(), vec![40, 50, 502], vec![70, 71, 72, 73, 74, 75, 502]];
    let (prefix, from) = net.row(whole[..cut].to_vec(), Some(seen[0].grid), 0, 0);
    let mut cache = Cache::default();
    net.decoder.read(&[prefix], Some(&features), &mut cache).expect("reads");
    let (behind, next): (Vec<Row>, Vec<u32>) = questions.iter().map(|ids| net.row(ids.clone(), None, 0, from)).unzip();
    let mut copies = cache.repeated(questions.len(), 0).expect("copies");
    let shared = net
        .decoder
        .forward(&behind, None, &mut cache.repeated(questions.len(), 0).expect("copies"), Keep::Last)
        .expect("computes");
    let said = crate::models::vlm::greedy(&net, &behind, next, None, &mut copies, 12, |_| false).expect("generates");
    for (index, question) in questions.iter().enumerate() {
        let ids = [&whole[..cut], question].concat();
        let (alone, next) = net.row(ids, Some(seen[0].grid), 0, 0);
        let due = net.decoder.forward(std::slice::from_ref(&alone), Some(&features), &mut Cache::default(), Keep::Last);
        let off = difference(&shared.narrow(0, index, 1).expect("a row"), &due.expect("computes"));
        assert!(off < bound(LOGITS), "question {index}: off by {off}");
        let due = greedy(&net, &[alone], vec![next], &features, &mut Cache::default());
        assert_eq!([said[index].ids.clone()], due[..], "question {index}");
    }
}
