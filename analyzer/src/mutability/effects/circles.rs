//! The order of methods: callees before callers; methods that call each other form a circle (a
//! strongly connected component, found by Tarjan's algorithm).

/// The circles by level: those of one level only call those of the levels before it.
pub fn levels(methods: &[u32], calls: &[Vec<u32>]) -> Vec<Vec<Vec<u32>>> {
    const NEW: u32 = u32::MAX;
    let mut number = vec![NEW; calls.len()];
    let mut low = vec![0u32; calls.len()];
    // The level of each method whose circle is complete.
    let mut level = vec![NEW; calls.len()];
    let mut stack: Vec<u32> = Vec::new();
    let mut next = 0;
    let mut levels: Vec<Vec<Vec<u32>>> = Vec::new();
    for &start in methods {
        if number[start as usize] != NEW {
            continue;
        }
        let mut path = vec![(start, 0usize)];
        while let Some(&mut (method, ref mut at)) = path.last_mut() {
            let index = method as usize;
            if *at == 0 && number[index] == NEW {
                number[index] = next;
                low[index] = next;
                next += 1;
                stack.push(method);
            }
            if let Some(&callee) = calls[index].get(*at) {
                *at += 1;
                if number[callee as usize] == NEW {
                    path.push((callee, 0));
                } else if level[callee as usize] == NEW {
                    low[index] = low[index].min(number[callee as usize]);
                }
                continue;
            }
            path.pop();
            if let Some(&(caller, _)) = path.last() {
                low[caller as usize] = low[caller as usize].min(low[index]);
            }
            if low[index] == number[index] {
                let from = stack
                    .iter()
                    .rposition(|&other| other == method)
                    .unwrap_or(0);
                let mut circle = stack.split_off(from);
                // Methods found last call back to those found first.
                circle.reverse();
                let below = circle.iter().flat_map(|&one| &calls[one as usize]);
                let below = below
                    .map(|&callee| level[callee as usize])
                    .filter(|&level| level != NEW)
                    .max();
                let own = below.map_or(0, |below| below + 1);
                circle.iter().for_each(|&one| level[one as usize] = own);
                if levels.len() <= own as usize {
                    levels.resize_with(own as usize + 1, Vec::new);
                }
                levels[own as usize].push(circle);
            }
        }
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callees_come_first() {
        // 0 -> 1 <-> 2 -> 3; 4 stands alone and calls itself.
        let calls = vec![vec![1], vec![2], vec![1, 3], vec![], vec![4]];
        let levels = levels(&[0, 1, 2, 3, 4], &calls);
        let sorted: Vec<Vec<Vec<u32>>> = levels
            .into_iter()
            .map(|level| {
                let mut level: Vec<Vec<u32>> = level
                    .into_iter()
                    .map(|mut circle| {
                        circle.sort_unstable();
                        circle
                    })
                    .collect();
                level.sort();
                level
            })
            .collect();
        assert_eq!(
            sorted,
            [vec![vec![3], vec![4]], vec![vec![1, 2]], vec![vec![0]]]
        );
    }
}
