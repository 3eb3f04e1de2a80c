//! How much the words of a caption have in common with those of a question: BM25 (Robertson and Zaragoza 2009). Pure.

/// How soon another occurrence stops to count.
const K1: f32 = 1.2;
/// How much a long caption is held against its words.
const B: f32 = 0.75;

/// The weight of each document for the query, both as stems; rare words weigh more.
pub(super) fn weights(query: &[String], documents: &[&[String]]) -> Vec<f32> {
    let count = documents.len() as f32;
    let mean = documents.iter().map(|document| document.len()).sum::<usize>() as f32 / count.max(1.0);
    let mut weights = vec![0.0; documents.len()];
    for term in query {
        let occurs = |document: &[String]| document.iter().filter(|word| *word == term).count() as f32;
        let occurrences: Vec<f32> = documents.iter().map(|document| occurs(document)).collect();
        let holding = occurrences.iter().filter(|occurrences| **occurrences > 0.0).count() as f32;
        let rarity = (1.0 + (count - holding + 0.5) / (holding + 0.5)).ln();
        for ((weight, document), times) in weights.iter_mut().zip(documents).zip(occurrences) {
            let length = K1 * (1.0 - B + B * document.len() as f32 / mean.max(1.0));
            *weight += rarity * times * (K1 + 1.0) / (times + length);
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use crate::domain::words::content;

    #[test]
    fn rare_words_and_short_captions_weigh_more() {
        let captions = [
            "There is a car.",
            "There is a car and a dog.",
            "There is a dog and a red car on a street with trees.",
            "There is a bus.",
        ];
        let stems: Vec<Vec<String>> = captions.iter().map(|caption| content(caption)).collect();
        let documents: Vec<&[String]> = stems.iter().map(Vec::as_slice).collect();
        let weights = |query: &str| super::weights(&content(query), &documents);
        let of = weights("Where is the dog?");
        assert!(of[1] > of[2] && of[2] > 0.0 && of[0] == 0.0, "{of:?}");
        let both = weights("the bus and the car");
        assert!(both[3] > both[0], "a bus is rarer than a car: {both:?}");
        assert_eq!(weights("nothing of it"), [0.0; 4]);
        assert_eq!(super::weights(&content("dog"), &[]), Vec::<f32>::new());
        assert!(super::weights(&content("dog"), &[&[]]).iter().all(|weight| *weight == 0.0));
    }
}
