//! Pipelines of stages as they are typed.

use crate::mutability::answers::{Heuristics, Stage};

/// Stages in order.
#[derive(Debug, Clone)]
pub struct Pipeline {
    /// The text as typed.
    pub text: String,
    /// The stages in order.
    pub stages: Vec<Stage>,
}

impl Pipeline {
    /// Parses `X-Y-Z`.
    pub fn parse(text: &str) -> Result<Pipeline, String> {
        let mut stages: Vec<Stage> = Vec::new();
        for name in text.split('-') {
            let stage = match name {
                "S" => Stage::S,
                "SH" => Stage::Sh,
                "P" => Stage::P,
                "S'" | "S2" => Stage::Flow,
                "X" => Stage::X,
                "R" => Stage::R,
                _ => match name.strip_prefix('D') {
                    Some(letters) => Stage::D(heuristics(name, letters)?),
                    None => {
                        return Err(format!(
                            "no stage {name:?}; there are S, SH, P, S', for recorded runs X, D and D with its \
                             heuristics A, B, C (DABC is also DH), for random inputs R and D with R (DRH)"
                        ));
                    }
                },
            };
            let first = |stage: &Stage| matches!(stage, Stage::S | Stage::Sh | Stage::Flow);
            if stage == Stage::P && !stages.iter().any(first) {
                return Err(
                    "P goes along calls from what S, SH or S' has found: put one of them before it"
                        .to_owned(),
                );
            }
            stages.push(stage);
        }
        Ok(Pipeline {
            text: text.to_owned(),
            stages,
        })
    }

    /// The first stage that needs a recorded run.
    pub fn recorded(&self) -> Option<Stage> {
        let mut stages = self.stages.iter().copied();
        stages.find(|stage| matches!(stage, Stage::X | Stage::D(_)) && !stage.is_random())
    }

    /// The first stage that makes runs of its own.
    pub fn random(&self) -> Option<Stage> {
        self.stages.iter().copied().find(|stage| stage.is_random())
    }

    /// The first stage whose verdict of immutability is not a proof.
    pub fn unproved(&self) -> Option<Stage> {
        let mut stages = self.stages.iter().copied();
        stages.find(|stage| match stage {
            Stage::Sh => true,
            Stage::D(with) => with.absence,
            _ => false,
        })
    }
}

fn heuristics(name: &str, letters: &str) -> Result<Heuristics, String> {
    let mut with = Heuristics::default();
    for letter in letters.chars() {
        match letter {
            'A' => with.absence = true,
            'B' => with.bound = true,
            'C' => with.aliased = true,
            'H' => {
                with = Heuristics {
                    absence: true,
                    bound: true,
                    aliased: true,
                    ..with
                }
            }
            'R' => with.random = true,
            _ => {
                return Err(format!(
                    "stage {name}: D has the heuristics A, B, C, H (all three) and R, not {letter}"
                ));
            }
        }
    }
    Ok(with)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for text in [
            "S-P",
            "SH-P-DH-P",
            "S'-P",
            "X-S'-P",
            "S-P-DBC-P",
            "D",
            "DA-DB-DC-DAB-DAC",
            "SH-P-DRH-P",
            "S-P-DRBC-P",
            "S-P-R-P",
        ] {
            let parsed = Pipeline::parse(text).unwrap();
            let names: Vec<_> = parsed.stages.iter().map(|stage| stage.name()).collect();
            assert_eq!(names.join("-"), text);
        }
        assert_eq!(Pipeline::parse("DABC").unwrap().stages[0].name(), "DH");
        assert_eq!(Pipeline::parse("DABCR").unwrap().stages[0].name(), "DRH");
        for (text, part) in [
            ("P-S", "put one of them before it"),
            ("X-P", "put one of them before it"),
            ("S--P", "no stage \"\""),
            ("DQ", "not Q"),
        ] {
            let error = Pipeline::parse(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        assert_eq!(
            Pipeline::parse("S'-DA")
                .unwrap()
                .unproved()
                .map(Stage::name),
            Some("DA")
        );
        assert_eq!(Pipeline::parse("S'-X").unwrap().unproved(), None);
        let random = Pipeline::parse("S-DRB").unwrap();
        assert_eq!(random.recorded(), None);
        assert_eq!(random.random().map(Stage::name), Some("DRB"));
        assert_eq!(random.unproved(), None);
    }
}
