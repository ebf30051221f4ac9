//! The table of syntactic keywords known to the expander: the exports of `(cairn syntax)`.

macro_rules! core_forms {
    ($($variant:ident $name:literal;)*) => {
        /// A keyword.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        pub(crate) enum Core { $(#[doc = $name] $variant,)* }
        /// All keywords with their names.
        pub(crate) const CORE_FORMS: &[(&str, Core)] = &[$(($name, Core::$variant)),*];
    };
}

core_forms! {
    // definitions and what may stand among them
    Begin "begin";
    Define "define";
    DefineValues "define-values";
    DefineRecordType "define-record-type";
    DefineStructureVector "define-structure-vector";
    DefineCStruct "define-c-struct";
    DefineSyntax "define-syntax";
    DefineSyntaxParameter "define-syntax-parameter";
    DefineLibrary "define-library";
    Library "library";
    Import "import";
    CSource "c-source";
    DefineCLibrary "define-c-library";
    Include "include";
    IncludeCi "include-ci";
    CondExpand "cond-expand";
    // expressions
    Quote "quote";
    Quasiquote "quasiquote";
    Lambda "lambda";
    NamedLambda "named-lambda";
    CaseLambda "case-lambda";
    If "if";
    Set "set!";
    Let "let";
    LetStar "let*";
    Letrec "letrec";
    LetrecStar "letrec*";
    LetValues "let-values";
    LetStarValues "let*-values";
    LetSyntax "let-syntax";
    LetrecSyntax "letrec-syntax";
    SplicingLetSyntax "splicing-let-syntax";
    SplicingLetrecSyntax "splicing-letrec-syntax";
    SyntaxParameterize "syntax-parameterize";
    FluidLetSyntax "fluid-let-syntax";
    SyntaxCase "syntax-case";
    Syntax "syntax";
    Quasisyntax "quasisyntax";
    Do "do";
    Case "case";
    Cond "cond";
    And "and";
    Or "or";
    When "when";
    Unless "unless";
    Parameterize "parameterize";
    Guard "guard";
    Delay "delay";
    DelayForce "delay-force";
    Receive "receive";
    Assert "assert";
    SyntaxError "syntax-error";
    CProcedure "c-procedure";
    CCallback "c-callback";
    CExport "c-export";
    CType "c-type";
    // auxiliary keywords
    SyntaxRules "syntax-rules";
    InnermostSyntaxRules "innermost-syntax-rules";
    ErMacroTransformer "er-macro-transformer";
    ScMacroTransformer "sc-macro-transformer";
    RscMacroTransformer "rsc-macro-transformer";
    Unsyntax "unsyntax";
    UnsyntaxSplicing "unsyntax-splicing";
    Unquote "unquote";
    UnquoteSplicing "unquote-splicing";
    Else "else";
    Arrow "=>";
    Ellipsis "...";
    Underscore "_";
    // special primitive forms, exported by `(cairn primitives)` instead
    PrimValues "%values";
    PrimReceive "%receive";
    PrimApply "%apply";
    PrimCallCc "%call/cc";
    PrimCall1cc "%call/1cc";
    PrimPlace "%place";
}

impl Core {
    /// Exported by `(cairn primitives)`, not by `(cairn syntax)`.
    pub(crate) fn is_primitive(self) -> bool {
        matches!(
            self,
            Core::PrimValues
                | Core::PrimReceive
                | Core::PrimApply
                | Core::PrimCallCc
                | Core::PrimCall1cc
                | Core::PrimPlace
        )
    }
    /// Does it head what only stands among definitions?
    pub(crate) fn is_definition(self) -> bool {
        (self as usize) <= Core::CondExpand as usize
    }
    /// The name of the keyword.
    pub(crate) fn name(self) -> &'static str {
        CORE_FORMS[self as usize].0
    }
}
