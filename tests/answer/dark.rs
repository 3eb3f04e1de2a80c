//! Claims about times at which nothing could be seen, and about those beside them.

use super::*;

fn frozen(from: f64, until: f64) -> BlindSpan {
    let why = Blindness::Frozen;
    BlindSpan { stream: stream("cam"), from: at(from), until: at(until), wall: WallTime::now(), why }
}

/// A camera whose frames always show a car, and the claims that there is one.
fn cars(times: &[f64]) -> (Vec<(f64, Past)>, Vec<Claim>) {
    let past = times.iter().map(|&at| (at, shows(1))).collect();
    (past, times.iter().map(|&at| claim("There is a car.", at)).collect())
}

#[tokio::test]
async fn a_frozen_camera_proves_nothing_until_it_is_seen_to_move() {
    let (past, claims) = cars(&[9.9, 10.0, 20.0, 20.4, 24.9, 25.0]);
    let house = House::new(&past).await.remember(&[(0.0, "There is a car.")]).await;
    house.index.blind(frozen(10.0, 20.0)).await.expect("notes");
    let (dark, seen) = (Reason::Unobservable, Reason::Entailed);
    let due = [seen, dark, dark, dark, dark, dark];
    assert_eq!(reasons(&house.verify(&claims).await), due, "it is the last thing known");
    // A restart, or a camera that was mended.
    let house = house.remember(&[(25.0, "There is a car.")]).await;
    let verdicts = house.verify(&claims).await;
    assert_eq!(reasons(&verdicts), [seen, dark, dark, dark, dark, seen]);
    assert!(verdicts[4].trials[0].detail.contains("again and again, from 10.000 s to 20.000 s"), "{verdicts:?}");
}

#[tokio::test]
async fn what_was_not_recorded_after_a_dark_stretch_is_missing() {
    let house = House::new(&[(20.0, shows(1)), (22.0, Past::Gap)]).await.remember(&[(0.0, "a")]).await;
    house.index.blind(frozen(10.0, 20.0)).await.expect("notes");
    let verdicts = house.verify(&[claim("There is a car.", 22.0)]).await;
    assert_eq!(reasons(&verdicts), [Reason::NoFrame]);
}

#[tokio::test]
async fn no_neighbour_speaks_for_the_dark_nor_out_of_it() {
    let past = [(5.0, shows(1)), (10.0, Past::Shows(black())), (15.0, shows(1)), (21.0, shows(3)), (26.0, shows(1))];
    let captions = [(5.0, "There is a car."), (10.0, "a"), (15.0, "There is a car.")];
    let house = House::new(&past).await.remember(&captions).await;
    let verdicts = house.verify(&[claim("There is a car.", 10.0)]).await;
    assert_eq!((reasons(&verdicts), verdicts[0].trials.len()), (vec![Reason::Unobservable], 1));
    // The frame at 21 s is no sample: its neighbours lie one interval away, the later one in the dark.
    let bus = claim("There is a car.", 21.0);
    assert_eq!(reasons(&house.verify(std::slice::from_ref(&bus)).await), [Reason::Entailed], "by the frame at 26 s");
    house.index.blind(frozen(22.0, 30.0)).await.expect("notes");
    house.extracted.take();
    assert_eq!(reasons(&house.verify(&[bus]).await), [Reason::Neutral]);
    assert_eq!(house.extracted.take(), [at(21.0), at(16.0)], "nothing in the dark is asked");
}
