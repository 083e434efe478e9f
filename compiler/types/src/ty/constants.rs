//! Predeclared constants of OpenCL C that are not macros: orders, scopes, enqueue flags, null handles.
//!
//! One table with name, type, value and condition. The preprocessor defines the macros (`CLK_LOCAL_MEM_FENCE`, samplers).

use kiln_session::extensions::{Condition, Extension, Extensions, missing};
use kiln_vocabulary::opencl::{
    LanguageVersion::{self, Cl20, Cl30},
    Order, Scope,
};

use crate::ops::Const;

use super::{EnumId, Scalar, Ty, TyId, Types};

/// A predeclared constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    ty: Ty,
    /// Its value.
    pub value: Const,
    conditions: Vec<Condition>,
}

impl Constant {
    /// Its type. Enumerators of `memory_order` and `memory_scope` have the enum type, so that the type checker
    /// can detect swapped arguments. The underlying type is `int`, as for C enumerators.
    pub fn ty(&self, types: &mut Types) -> TyId {
        types.intern(self.ty.clone())
    }

    /// The missing requirements for using it. `None` if it is available.
    pub fn missing(&self, version: LanguageVersion, extensions: Extensions) -> Option<Vec<String>> {
        missing(&self.conditions, version, extensions)
    }
}

/// The predeclared constant with this name, in any version.
pub fn constant(name: &str) -> Option<Constant> {
    let since20 = Condition::since(Cl20);
    let enqueue = since20.with(Extension::DeviceEnqueue);
    if let Some(order) = Order::ALL.into_iter().find(|order| order.spelling() == name) {
        let conditions = match order {
            Order::SeqCst => vec![since20.with(Extension::OrderSeqCst)],
            // OpenCL C 6.15.12.5: fences have these orders without the feature, so the names are always available.
            Order::Relaxed | Order::Acquire | Order::Release | Order::AcqRel => vec![since20],
        };
        return Some(int(Ty::Enum(EnumId::MEMORY_ORDER), order as u64, conditions));
    }
    let scope = Scope::ALL.into_iter().find(|scope| scope.spelling() == name);
    let (scope, condition) = match (scope, name) {
        (None, "memory_scope_all_devices") => (Some(Scope::AllSvmDevices), Condition::since(Cl30)),
        _ => (scope, since20),
    };
    if let Some(scope) = scope {
        let conditions = match scope {
            Scope::WorkItem | Scope::WorkGroup => vec![condition],
            Scope::Device => vec![condition.with(Extension::ScopeDevice)],
            Scope::AllSvmDevices => vec![condition.with(Extension::ScopeAllDevices)],
            Scope::SubGroup => {
                [Extension::FeatureSubgroups, Extension::KhrSubgroups, Extension::IntelSubgroups]
                    .map(|extension| condition.with(extension))
                    .to_vec()
            }
        };
        return Some(int(Ty::Enum(EnumId::MEMORY_SCOPE), scope as u64, conditions));
    }
    let flag = |value| Some(int(Ty::Scalar(Scalar::Int), value, vec![enqueue]));
    let null =
        |ty, extension| Some(Constant { ty, value: Const::Zero, conditions: vec![since20.with(extension)] });
    match name {
        // OpenCL C 6.3.1
        "true" => Some(int(Ty::Scalar(Scalar::Bool), 1, vec![Condition::ALWAYS])),
        "false" => Some(int(Ty::Scalar(Scalar::Bool), 0, vec![Condition::ALWAYS])),
        // OpenCL C 6.15.12.7.6. Not an integer, so that it only initializes flags.
        "ATOMIC_FLAG_INIT" => {
            Some(Constant { ty: Ty::AtomicFlag, value: Const::Zero, conditions: vec![since20] })
        }
        "CLK_ENQUEUE_FLAGS_NO_WAIT" => flag(0),
        "CLK_ENQUEUE_FLAGS_WAIT_KERNEL" => flag(1),
        "CLK_ENQUEUE_FLAGS_WAIT_WORK_GROUP" => flag(2),
        "CLK_PROFILING_COMMAND_EXEC_TIME" => flag(1),
        "CLK_NULL_QUEUE" => null(Ty::Queue, Extension::DeviceEnqueue),
        "CLK_NULL_EVENT" => null(Ty::ClkEvent, Extension::DeviceEnqueue),
        "CLK_NULL_RESERVE_ID" => null(Ty::ReserveId, Extension::Pipes),
        _ => None,
    }
}

fn int(ty: Ty, value: u64, conditions: Vec<Condition>) -> Constant {
    Constant { ty, value: Const::Int(value), conditions }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_and_scopes() {
        let mut types = Types::new();
        let acquire = constant("memory_order_acquire").unwrap();
        assert_eq!(acquire.value, Const::Int(2));
        assert_eq!(types.get(acquire.ty(&mut types.clone())), &Ty::Enum(EnumId::MEMORY_ORDER));
        let all_devices = constant("memory_scope_all_devices").unwrap();
        assert_eq!(all_devices.value, constant("memory_scope_all_svm_devices").unwrap().value);
        assert_ne!(acquire.ty(&mut types), all_devices.ty(&mut types));
        assert_eq!(constant("memory_order_consume"), None);
    }

    #[test]
    fn constants_require_versions_and_features() {
        let missing = |name: &str, version| {
            constant(name).unwrap().missing(version, Extensions::NONE).unwrap_or_default().join(" and ")
        };
        assert_eq!(missing("memory_order_acquire", Cl30), "");
        assert_eq!(missing("memory_order_relaxed", LanguageVersion::Cl12), "OpenCL C 2.0");
        assert_eq!(missing("memory_order_seq_cst", Cl30), "__opencl_c_atomic_order_seq_cst");
        assert_eq!(missing("memory_scope_sub_group", Cl30), "__opencl_c_subgroups");
        assert_eq!(missing("CLK_NULL_QUEUE", Cl30), "__opencl_c_device_enqueue");
    }
}
