//! Modules in which operations are used in every way.

use super::*;
use cairn_core::prim::{OPS, OpInfo};

/// Operands of an operation: variables, with literals where a literal is demanded.
pub fn operands(info: &OpInfo, first: u32) -> Vec<Operand> {
    let literal = |i: usize| {
        matches!(
            (info.op, i),
            (P::RecordRef | P::RecordSet | P::RecordFlRef | P::RecordFlSet, 2)
                | (P::RecordAt | P::RecordAtSet | P::RecordFlAt | P::RecordFlAtSet, 2)
                | (P::StructureRef | P::StructureSet | P::StructureFlRef | P::StructureFlSet, 2)
                | (P::RawRecord | P::CompactRecord, 1)
                | (P::PortRef | P::PortSet | P::OpaqueRef | P::OpaqueSet, 1)
                | (P::MachineRef | P::MachineSet, 0)
        )
    };
    (0..info.args.len()).map(|i| if literal(i) { fix(3) } else { var(first + i as u32) }).collect()
}

/// Functions that use an operation as a value, for effect and as a test, collected into one module per strategy: LLVM's
/// fixed cost is paid once.
#[derive(Default)]
pub struct Uses(Vec<Function>);

impl Uses {
    /// Each operation, with checks and without, and each of the operations that take any number of operands.
    pub fn of_every_operation() -> Uses {
        let mut uses = Uses::default();
        for info in OPS {
            for proven in [0, 0xFF] {
                uses.add(prim_of(PrimOp::Op(info.op), &operands(info, 0), proven), &[]);
            }
        }
        for op in [PrimOp::Vector, PrimOp::Record, PrimOp::Opaque] {
            // The first operand of a record is its type.
            for n in u32::from(matches!(op, PrimOp::Record))..4 {
                let args: Vec<Operand> = (0..n).map(var).collect();
                uses.add(prim_of(op, &args, 0), &[]);
            }
        }
        uses
    }

    pub fn add(&mut self, p: Prim, doubles: &[u32]) {
        let first = |i: u32| {
            let o = if doubles.contains(&i) { flo(1.5) } else { Operand::Procedure(FuncId(0)) };
            copy(i, o)
        };
        let blocks = vec![
            block((0..8).map(first).collect(), Term::Goto(BlockId(1))),
            block(
                vec![check(64, &[0, 1, 2, 3, 4, 5, 6, 7]), Stmt::Assign(Var(7), Op::Prim(p.clone()))],
                branch(p.clone(), 2, 3),
            ),
            block(vec![check(64, &[]), Stmt::Effect(Op::Prim(p.clone()))], Term::Return(var(7))),
            block(vec![], Term::ReturnMulti(vec![var(7), var(0)])),
        ];
        let name = format!("{} {} {:?} {doubles:?}", self.0.len(), p.op.name(), p.args);
        let mut f = body(&name, 0, 8, blocks);
        for d in doubles {
            f.vars[*d as usize].rep = Rep::Double;
        }
        self.0.push(f);
    }

    pub fn module(self, strategy: &'static StrategyFacts) -> Module {
        let mut functions =
            vec![entry("main", 0, false, 1), body("main.0", 0, 0, vec![block(vec![], Term::Return(fix(0)))])];
        functions.extend(self.0);
        module(strategy, functions, 0, 2)
    }
}
