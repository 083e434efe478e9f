//! The table of diagnostic codes. The page of each code is `docs/diagnostics/<name>.md`.

use super::{Severity, closest};

/// A group of warnings that one option controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// Enabled by default.
    Default,
    /// Enabled by `-Wall`.
    All,
    /// Enabled by `-Wextra`.
    Extra,
    /// Enabled by `-Wpedantic`.
    Pedantic,
}

macro_rules! codes {
    ($($variant:ident $name:literal $sort:ident;)*) => {
        /// The code of a diagnostic.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum Code { $($variant,)* }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name, as shown in brackets and after `-W`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Its page in Markdown: the meaning, the reason, an example, and the corrected example.
            pub const fn page(self) -> &'static str {
                match self {
                    $(Self::$variant => include_str!(concat!("../../pages/", $name, ".md")),)*
                }
            }

            const fn kind(self) -> Kind {
                match self { $(Self::$variant => Kind::$sort,)* }
            }
        }
    };
}

enum Kind {
    Error,
    /// An error that `-Wno-error=NAME` makes a warning: other compilers accept the program.
    SoftError,
    Warning,
    All,
    Extra,
    Pedantic,
}

impl Code {
    /// The code with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.name() == name)
    }

    /// The code with a similar name, for a misspelled one.
    pub fn closest(name: &str) -> Option<Self> {
        closest(name, Self::ALL.iter().map(|code| code.name())).and_then(|name| Self::parse(&name))
    }

    /// A summary: the first paragraph of its page, on one line.
    pub fn summary(self) -> String {
        let paragraphs = self.page().split("\n\n").map(str::trim);
        let text = paragraphs.filter(|text| !text.starts_with('#')).find(|text| !text.is_empty());
        text.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The severity before options are applied.
    pub const fn default_severity(self) -> Severity {
        match self.kind() {
            Kind::Error | Kind::SoftError => Severity::Error,
            Kind::Warning | Kind::All | Kind::Extra | Kind::Pedantic => Severity::Warning,
        }
    }

    /// The group of a warning.
    pub const fn group(self) -> Group {
        match self.kind() {
            Kind::Error | Kind::SoftError | Kind::Warning => Group::Default,
            Kind::All => Group::All,
            Kind::Extra => Group::Extra,
            Kind::Pedantic => Group::Pedantic,
        }
    }

    /// Whether options can make this error a warning.
    pub(super) const fn is_soft(self) -> bool {
        matches!(self.kind(), Kind::SoftError)
    }

    pub(super) fn is_default(self) -> bool {
        self.group() == Group::Default
    }

    /// Whether a `-W` option with this name, which is a code or a group, applies to this code.
    pub fn matches_option(self, name: &str) -> bool {
        match name {
            "everything" => true,
            "all" => matches!(self.group(), Group::Default | Group::All),
            "extra" => self.group() == Group::Extra,
            "pedantic" => self.group() == Group::Pedantic,
            "conversion" => matches!(
                self,
                Self::ImplicitNarrowing | Self::ConstantConversion | Self::ImplicitConstIntFloatConversion
            ),
            "format" => matches!(self, Self::PrintfArgument | Self::PrintfFormat),
            "parentheses" => {
                matches!(
                    self,
                    Self::AssignmentCondition
                        | Self::ChainedComparison
                        | Self::Precedence
                        | Self::ShiftOpParentheses
                        | Self::LogicalOpParentheses
                )
            }
            "unused" => matches!(self, Self::UnusedVariable | Self::UnusedLabel | Self::UnusedValue),
            _ => self.name() == name,
        }
    }
}

codes! {
    // Lexer and preprocessor
    UnknownCharacter "unknown-character" Error;
    UnterminatedComment "unterminated-comment" Error;
    UnterminatedLiteral "unterminated-literal" Error;
    Directive "directive" Error;
    SkippedDirective "skipped-directive" Warning;
    Include "include" Error;
    IncludeDepth "include-depth" Error;
    MacroDefinition "macro-definition" Error;
    MacroArguments "macro-arguments" Error;
    MacroRedefined "macro-redefined" Warning;
    MacroPaste "macro-paste" Error;
    MacroLimit "macro-limit" Error;
    MacroSpace "macro-space" Warning;
    VariadicMacro "variadic-macro" Warning;
    ExtraTokens "extra-tokens" Warning;
    NotUtf8 "not-utf8" Warning;
    InvisibleCharacter "invisible-character" Warning;
    BackslashSpace "backslash-space" Warning;
    Conditional "conditional" Error;
    UserError "user-error" Error;
    UserWarning "user-warning" Warning;
    MisspelledPragma "misspelled-pragma" Warning;
    UnknownPragma "unknown-pragmas" All;
    ExtensionPragma "extension-pragma" Warning;
    UnsupportedExtension "unsupported-extension" Error;
    // Parser
    Syntax "syntax" Error;
    NestingDepth "nesting-depth" Error;
    // Memory orders, scopes and fences
    AtomicOrderStore "atomic-order-store" Error;
    AtomicOrderLoad "atomic-order-load" Error;
    AtomicOrderFailure "atomic-order-failure" Error;
    ScopeWorkItem "scope-work-item" SoftError;
    FenceImage "fence-image" Error;
    BarrierImageScope "barrier-image-scope" Error;
    OrderValue "order-value" Error;
    ScopeValue "scope-value" Error;
    FenceFlagsValue "fence-flags-value" Error;
    OrderUnsupported "order-unsupported" Error;
    ScopeUnsupported "scope-unsupported" Error;
    AtomicPrivate "atomic-private" Warning;
    SeqCstScope "seq-cst-scope" All;
    SeqCstWeakened "seq-cst-weakened" Warning;
    FenceRelaxed "fence-relaxed" Warning;
    FenceFlagsEmpty "fence-flags-empty" Warning;
    LogicalFlags "logical-flags" Warning;
    MemFenceImage "mem-fence-image" Warning;
    BarrierLocalScope "barrier-local-scope" Warning;
    // Declarations: types
    UnknownType "unknown-type" Error;
    ImplicitInt "implicit-int" Error;
    TypeSpecifiers "type-specifiers" Error;
    LongLong "long-long" Warning;
    ReservedTypeName "reserved-type-name" Error;
    ReservedWord "reserved-word" Error;
    GenericQualifier "generic-qualifier" Warning;
    UnsupportedQualifier "unsupported-qualifier" Error;
    UnsupportedType "unsupported-type" Error;
    MissingExtension "missing-extension" Error;
    QualifierTarget "qualifier-target" Error;
    AccessQualifier "access-qualifier" Error;
    IncompleteType "incomplete-type" Error;
    ArrayElement "array-element" Error;
    ArraySize "array-size" Error;
    ZeroSizeArray "zero-size-array" Warning;
    VariableLengthArray "variable-length-array" Error;
    FlexibleArray "flexible-array" Error;
    BitField "bit-field" Error;
    EmptyRecord "empty-record" Warning;
    MemberDeclaration "member-declaration" Error;
    EnumValue "enum-value" Warning;
    HalfStorage "half-storage" Error;
    OpaqueTypeUse "opaque-type-use" Error;
    PipeType "pipe-type" Error;
    BlockType "block-type" Error;
    TypeofExtension "typeof-extension" Warning;
    // Declarations: names and objects
    Redefinition "redefinition" Error;
    ConflictingDeclaration "conflicting-declaration" Error;
    DeclaresNothing "declares-nothing" Warning;
    StorageClass "storage-class" Error;
    AddressSpaceConflict "address-space-conflict" Error;
    AddressSpacePlacement "address-space-placement" Error;
    AddressSpaceRequired "address-space-required" Error;
    MissingInitializer "missing-initializer" Error;
    LocalInitializer "local-initializer" Error;
    AtomicInitializer "atomic-initializer" Error;
    ConstantInitializer "constant-initializer" Error;
    InitializerShape "initializer-shape" Error;
    ExcessInitializers "excess-initializers" Warning;
    Designator "designator" Error;
    // Functions
    FunctionResult "function-result" Error;
    FunctionSpecifier "function-specifier" Error;
    VariadicFunction "variadic-function" Error;
    OldStyleFunction "old-style-function" Error;
    NestedFunction "nested-function" Error;
    ParameterName "parameter-name" Pedantic;
    KernelResult "kernel-result" Error;
    KernelArgument "kernel-argument" Error;
    MainFunction "main-function" Error;
    Recursion "recursion" Error;
    UndefinedFunction "undefined-function" Error;
    UndefinedVariable "undefined-variable" Error;
    ExternalDefinition "external-definition" Warning;
    BuiltinRedefined "builtin-redefined" Warning;
    MissingReturn "missing-return" Warning;
    // Attributes
    UnknownAttribute "unknown-attribute" Warning;
    IgnoredAttribute "ignored-attribute" All;
    LowerAlignment "lower-alignment" Warning;
    MisplacedAttribute "misplaced-attribute" Warning;
    AttributeTarget "attribute-target" Error;
    AttributeArgument "attribute-argument" Error;
    AttributeConflict "attribute-conflict" Warning;
    // Statements
    UndefinedLabel "undefined-label" Error;
    DuplicateLabel "duplicate-label" Error;
    UnusedLabel "unused-label" All;
    MisplacedCase "misplaced-case" Error;
    DuplicateCase "duplicate-case" Error;
    CaseValue "case-value" Warning;
    CaseRange "case-range" Warning;
    SwitchValue "switch-value" Error;
    MisplacedJump "misplaced-jump" Error;
    ReturnValue "return-value" Error;
    ReturnStackAddress "return-stack-address" Warning;
    StaticAssertion "static-assertion" Error;
    InlineAssembly "inline-assembly" Error;
    DanglingElse "dangling-else" Warning;
    EmptyBody "empty-body" Warning;
    DivergentBarrier "divergent-barrier" Warning;
    Uninitialized "uninitialized" Warning;
    UnusedVariable "unused-variable" All;
    UnusedParameter "unused-parameter" Extra;
    // Expressions: names and literals
    UndeclaredName "undeclared-name" Error;
    UndeclaredFunction "undeclared-function" Error;
    FunctionPointer "function-pointer" Error;
    IntegerTooLarge "integer-too-large" Error;
    IntegerIsUnsigned "integer-is-unsigned" Warning;
    IntegerOverflow "integer-overflow" Warning;
    LiteralSuffix "literal-suffix" Error;
    LiteralDigit "literal-digit" Error;
    LiteralRange "literal-range" Warning;
    DoubleConstant "double-constant" Warning;
    EscapeSequence "escape-sequence" Error;
    UnknownEscape "unknown-escape" Warning;
    WideLiteral "wide-literal" Error;
    WideCharacter "wide-character" Warning;
    MultipleCharacters "multiple-characters" Warning;
    GenericSelection "generic-selection" Error;
    C11Extension "c11-extension" Pedantic;
    GnuExtension "gnu-extension" Pedantic;
    // Expressions: operators
    NotAssignable "not-assignable" Error;
    ReadOnly "read-only" Error;
    RepeatedComponent "repeated-component" Error;
    InvalidOperands "invalid-operands" Error;
    IntegerOperands "integer-operands" Error;
    ScalarRank "scalar-rank" Error;
    VectorOperands "vector-operands" Error;
    ReservedOperator "reserved-operator" Error;
    FloatVectorIncrement "float-vector-increment" Error;
    FloatIncrement "float-increment" Warning;
    ConditionType "condition-type" Error;
    ConditionalBranches "conditional-branches" Error;
    OmittedOperand "omitted-operand" Warning;
    StatementExpression "statement-expression" Warning;
    StatementExpressionBody "statement-expression-body" Error;
    ConstantExpression "constant-expression" Error;
    DivisionByZero "division-by-zero" Warning;
    ShiftCount "shift-count" Warning;
    SignCompare "sign-compare" Extra;
    SizeofPointerDiv "sizeof-pointer-div" Warning;
    UnusedValue "unused-value" Warning;
    Unsequenced "unsequenced" Warning;
    AssignmentCondition "assignment-condition" Warning;
    AlwaysTrue "always-true" Warning;
    ConstantComparison "constant-comparison" Warning;
    ChainedComparison "chained-comparison" Warning;
    Precedence "precedence" Warning;
    ShiftOpParentheses "shift-op-parentheses" Warning;
    LogicalOpParentheses "logical-op-parentheses" All;
    BoolOperation "bool-operation" All;
    StringCompare "string-compare" Warning;
    ReversedOperator "reversed-operator" Warning;
    SelfAssign "self-assign" All;
    // Expressions: pointers, members, components
    NotAPointer "not-a-pointer" Error;
    IndexType "index-type" Error;
    ArrayBounds "array-bounds" Warning;
    AddressOfValue "address-of-value" Error;
    AddressOfComponent "address-of-component" Error;
    AddressOfHandle "address-of-handle" Error;
    VoidValue "void-value" Error;
    VoidArithmetic "void-arithmetic" Warning;
    PointerIntegerCompare "pointer-integer-compare" Warning;
    PointerToSmallInteger "pointer-to-small-integer" Warning;
    UnknownMember "unknown-member" Error;
    VectorComponent "vector-component" Error;
    VectorLiteral "vector-literal" Error;
    RgbaComponents "rgba-components" Warning;
    // Expressions: conversions
    IncompatibleTypes "incompatible-types" Error;
    IncompatiblePointers "incompatible-pointers" SoftError;
    DistinctPointers "distinct-pointers" Warning;
    PointerSign "pointer-sign" Warning;
    DiscardedQualifiers "discarded-qualifiers" Warning;
    AddressSpace "address-space" Error;
    InvalidCast "invalid-cast" Error;
    Reinterpret "reinterpret" Error;
    ConstantConversion "constant-conversion" Warning;
    ImplicitConstIntFloatConversion "implicit-const-int-float-conversion" Warning;
    ImplicitNarrowing "implicit-narrowing" Extra;
    SamplerInitializer "sampler-initializer" Error;
    SamplerBits "sampler-bits" Warning;
    SamplerRepeat "sampler-repeat" Warning;
    // Expressions: calls
    ArgumentCount "argument-count" Error;
    AmbiguousCall "ambiguous-call" Error;
    ArgumentType "argument-type" Error;
    ImplicitWidening "implicit-widening" Warning;
    NotCallable "not-callable" Error;
    BlockValue "block-value" Error;
    EnqueuedBlock "enqueued-block" Error;
    EnqueuedLocalSize "enqueued-local-size" Warning;
    EnqueuedCapture "enqueued-capture" Warning;
    BlockCapture "block-capture" Error;
    PrintfArgument "printf-argument" Warning;
    PrintfFormat "printf-format" Warning;
    // Atomic objects
    AtomicOperator "atomic-operator" Error;
    OrderScopeSwapped "order-scope-swapped" Warning;
    AtomicObject "atomic-object" Error;
    AtomicPlainAccess "atomic-plain-access" Warning;
    MixedAccess "mixed-access" All;
    ExtensionNotEnabled "extension-not-enabled" Warning;
    // Missing features of a target
    TargetFeature "target-feature" Error;
    ProgramSize "program-size" Error;
}
