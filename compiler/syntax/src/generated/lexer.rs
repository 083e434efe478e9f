use super::{Ending, block_comment, line_comment, literal};
use crate::token::Punct;
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Raw {
    Space,
    Newline,
    Comment(Ending),
    Identifier,
    ExtendedIdentifier,
    Number,
    Character(Ending),
    String(Ending),
    Punct(Punct),
}
impl<'s> ::logos::Logos<'s> for Raw {
    type Error = ();
    type Extras = ();
    type Source = str;
    fn lex(
        lex: &mut ::logos::Lexer<'s, Self>,
    ) -> core::option::Option<
        core::result::Result<Self, <Self as ::logos::Logos<'s>>::Error>,
    > {
        use ::logos::internal::{
            LexerInternal, CallbackRetVal, CallbackResult, SkipRetVal, SkipResult,
        };
        use core::result::Result as _Result;
        use core::option::Option as _Option;
        use ::logos::Logos;
        type _Lexer<'s> = ::logos::Lexer<'s, Raw>;
        macro_rules! _fast_loop {
            ($lex:ident, $test:ident, $offset:ident) => {
                'fast_loop : { while let Some(arr) = $lex .read:: < & [u8; 8usize] >
                ($offset) { if $test (arr[0usize]) { $offset += 0usize; break 'fast_loop;
                } if $test (arr[1usize]) { $offset += 1usize; break 'fast_loop; } if
                $test (arr[2usize]) { $offset += 2usize; break 'fast_loop; } if $test
                (arr[3usize]) { $offset += 3usize; break 'fast_loop; } if $test
                (arr[4usize]) { $offset += 4usize; break 'fast_loop; } if $test
                (arr[5usize]) { $offset += 5usize; break 'fast_loop; } if $test
                (arr[6usize]) { $offset += 6usize; break 'fast_loop; } if $test
                (arr[7usize]) { $offset += 7usize; break 'fast_loop; } $offset += 8usize;
                } while let Some(byte) = $lex .read:: < u8 > ($offset) { if $test (byte)
                { break 'fast_loop; } $offset += 1; } }
            };
        }
        macro_rules! _take_action {
            ($lex:ident, $offset:ident, $context:ident, $state:ident) => {
                { let action = _get_action($lex, $offset, $context); match action {
                CallbackResult::Emit(tok) => { return Some(Ok(tok)); },
                CallbackResult::Skip => { $lex .trivia(); $offset = $lex .offset();
                $context = None; $state = LogosState::State55; continue; },
                CallbackResult::Error(err) => { return Some(Err(err)); },
                CallbackResult::DefaultError => { return Some(Err(_make_error($lex))); },
                } }
            };
        }
        const _TABLE_0: [u8; 256] = [
            0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 8u8, 0u8, 8u8, 8u8, 0u8, 0u8,
            0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8,
            0u8, 0u8, 8u8, 0u8, 0u8, 0u8, 3u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8,
            0u8, 2u8, 0u8, 19u8, 19u8, 19u8, 19u8, 19u8, 19u8, 19u8, 19u8, 19u8, 19u8,
            0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 19u8, 19u8, 19u8, 19u8, 21u8, 19u8, 3u8,
            3u8, 3u8, 3u8, 3u8, 3u8, 3u8, 3u8, 3u8, 5u8, 3u8, 3u8, 3u8, 3u8, 3u8, 3u8,
            3u8, 3u8, 3u8, 3u8, 0u8, 0u8, 0u8, 0u8, 3u8, 0u8, 19u8, 19u8, 19u8, 19u8,
            21u8, 19u8, 3u8, 3u8, 3u8, 3u8, 3u8, 3u8, 3u8, 3u8, 3u8, 5u8, 3u8, 3u8, 3u8,
            3u8, 3u8, 3u8, 3u8, 3u8, 3u8, 3u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8,
            0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8,
            0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8,
            0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8,
            0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8,
            0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8,
            0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8,
            0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8,
            0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8, 0u8,
            0u8, 0u8, 0u8, 0u8, 0u8,
        ];
        #[inline]
        fn _make_error<'s>(lex: &mut _Lexer<'s>) -> <Raw as Logos<'s>>::Error {
            <Raw as Logos<'s>>::Error::default()
        }
        #[inline]
        fn _get_action<'s>(
            lex: &mut _Lexer<'s>,
            offset: usize,
            context: _Option<LogosLeaf>,
        ) -> CallbackResult<'s, Raw> {
            match context {
                None => {
                    lex.end_to_boundary(offset.max(lex.offset() + 1));
                    CallbackResult::Error(_make_error(lex))
                }
                Some(LogosLeaf::Leaf0) => CallbackResult::Emit(Raw::Space),
                Some(LogosLeaf::Leaf1) => CallbackResult::Emit(Raw::Newline),
                Some(LogosLeaf::Leaf2) => {
                    let cb_result = line_comment(lex);
                    CallbackRetVal::<'s, Ending, Raw>::construct(cb_result, Raw::Comment)
                }
                Some(LogosLeaf::Leaf3) => {
                    let cb_result = block_comment(lex);
                    CallbackRetVal::<'s, Ending, Raw>::construct(cb_result, Raw::Comment)
                }
                Some(LogosLeaf::Leaf4) => CallbackResult::Emit(Raw::Identifier),
                Some(LogosLeaf::Leaf5) => CallbackResult::Emit(Raw::ExtendedIdentifier),
                Some(LogosLeaf::Leaf6) => CallbackResult::Emit(Raw::Number),
                Some(LogosLeaf::Leaf7) => {
                    let cb_result = {
                        let lexer = lex;
                        literal(lexer, b'\'')
                    };
                    CallbackRetVal::<
                        's,
                        Ending,
                        Raw,
                    >::construct(cb_result, Raw::Character)
                }
                Some(LogosLeaf::Leaf8) => {
                    let cb_result = {
                        let lexer = lex;
                        literal(lexer, b'\'')
                    };
                    CallbackRetVal::<
                        's,
                        Ending,
                        Raw,
                    >::construct(cb_result, Raw::Character)
                }
                Some(LogosLeaf::Leaf9) => {
                    let cb_result = {
                        let lexer = lex;
                        literal(lexer, b'"')
                    };
                    CallbackRetVal::<'s, Ending, Raw>::construct(cb_result, Raw::String)
                }
                Some(LogosLeaf::Leaf10) => {
                    let cb_result = {
                        let lexer = lex;
                        literal(lexer, b'"')
                    };
                    CallbackRetVal::<'s, Ending, Raw>::construct(cb_result, Raw::String)
                }
                Some(LogosLeaf::Leaf11) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::OpenBracket
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf12) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::OpenBracket
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf13) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::CloseBracket
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf14) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::CloseBracket
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf15) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::OpenParen
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf16) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::CloseParen
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf17) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::OpenBrace
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf18) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::OpenBrace
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf19) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::CloseBrace
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf20) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::CloseBrace
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf21) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::Dot
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf22) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::Arrow
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf23) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::PlusPlus
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf24) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::MinusMinus
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf25) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::And
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf26) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::Star
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf27) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::Plus
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf28) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::Minus
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf29) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::Tilde
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf30) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::Not
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf31) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::Slash
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf32) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::Percent
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf33) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::ShiftLeft
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf34) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::ShiftRight
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf35) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::Less
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf36) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::Greater
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf37) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::LessEqual
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf38) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::GreaterEqual
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf39) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::EqualEqual
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf40) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::NotEqual
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf41) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::Caret
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf42) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::Or
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf43) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::AndAnd
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf44) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::OrOr
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf45) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::CaretCaret
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf46) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::Question
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf47) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::Colon
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf48) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::Semicolon
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf49) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::Ellipsis
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf50) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::Equal
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf51) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::StarEqual
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf52) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::SlashEqual
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf53) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::PercentEqual
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf54) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::PlusEqual
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf55) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::MinusEqual
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf56) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::ShiftLeftEqual
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf57) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::ShiftRightEqual
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf58) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::AndEqual
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf59) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::CaretEqual
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf60) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::OrEqual
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf61) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::Comma
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf62) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::Hash
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf63) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::Hash
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf64) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::HashHash
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
                Some(LogosLeaf::Leaf65) => {
                    let cb_result = {
                        let _ = lex;
                        Punct::HashHash
                    };
                    CallbackRetVal::<'s, Punct, Raw>::construct(cb_result, Raw::Punct)
                }
            }
        }
        #[derive(Clone, Copy)]
        enum LogosLeaf {
            Leaf0 = 0isize,
            Leaf1 = 1isize,
            Leaf2 = 2isize,
            Leaf3 = 3isize,
            Leaf4 = 4isize,
            Leaf5 = 5isize,
            Leaf6 = 6isize,
            Leaf7 = 7isize,
            Leaf8 = 8isize,
            Leaf9 = 9isize,
            Leaf10 = 10isize,
            Leaf11 = 11isize,
            Leaf12 = 12isize,
            Leaf13 = 13isize,
            Leaf14 = 14isize,
            Leaf15 = 15isize,
            Leaf16 = 16isize,
            Leaf17 = 17isize,
            Leaf18 = 18isize,
            Leaf19 = 19isize,
            Leaf20 = 20isize,
            Leaf21 = 21isize,
            Leaf22 = 22isize,
            Leaf23 = 23isize,
            Leaf24 = 24isize,
            Leaf25 = 25isize,
            Leaf26 = 26isize,
            Leaf27 = 27isize,
            Leaf28 = 28isize,
            Leaf29 = 29isize,
            Leaf30 = 30isize,
            Leaf31 = 31isize,
            Leaf32 = 32isize,
            Leaf33 = 33isize,
            Leaf34 = 34isize,
            Leaf35 = 35isize,
            Leaf36 = 36isize,
            Leaf37 = 37isize,
            Leaf38 = 38isize,
            Leaf39 = 39isize,
            Leaf40 = 40isize,
            Leaf41 = 41isize,
            Leaf42 = 42isize,
            Leaf43 = 43isize,
            Leaf44 = 44isize,
            Leaf45 = 45isize,
            Leaf46 = 46isize,
            Leaf47 = 47isize,
            Leaf48 = 48isize,
            Leaf49 = 49isize,
            Leaf50 = 50isize,
            Leaf51 = 51isize,
            Leaf52 = 52isize,
            Leaf53 = 53isize,
            Leaf54 = 54isize,
            Leaf55 = 55isize,
            Leaf56 = 56isize,
            Leaf57 = 57isize,
            Leaf58 = 58isize,
            Leaf59 = 59isize,
            Leaf60 = 60isize,
            Leaf61 = 61isize,
            Leaf62 = 62isize,
            Leaf63 = 63isize,
            Leaf64 = 64isize,
            Leaf65 = 65isize,
        }
        #[derive(Clone, Copy)]
        enum LogosState {
            State0,
            State1,
            State10,
            State11,
            State12,
            State13,
            State14,
            State15,
            State16,
            State17,
            State18,
            State19,
            State2,
            State20,
            State21,
            State22,
            State23,
            State24,
            State25,
            State26,
            State27,
            State28,
            State29,
            State3,
            State30,
            State31,
            State32,
            State33,
            State34,
            State35,
            State36,
            State37,
            State38,
            State39,
            State4,
            State40,
            State41,
            State42,
            State43,
            State44,
            State45,
            State46,
            State47,
            State48,
            State49,
            State5,
            State50,
            State51,
            State52,
            State53,
            State54,
            State55,
            State56,
            State57,
            State58,
            State59,
            State6,
            State60,
            State61,
            State62,
            State63,
            State64,
            State65,
            State66,
            State67,
            State68,
            State69,
            State7,
            State70,
            State71,
            State72,
            State73,
            State74,
            State75,
            State76,
            State77,
            State78,
            State79,
            State8,
            State80,
            State81,
            State82,
            State83,
            State84,
            State85,
            State86,
            State87,
            State88,
            State89,
            State9,
            State90,
            State91,
            State92,
            State93,
            State94,
        }
        let mut state = LogosState::State55;
        let mut offset = lex.offset();
        let mut context: _Option<LogosLeaf> = None;
        loop {
            match state {
                LogosState::State0 => {
                    #[inline]
                    fn loop_test(byte: u8) -> bool {
                        _TABLE_0[byte as usize] & 1u8 == 0
                    }
                    _fast_loop!(lex, loop_test, offset);
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf5);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        const TABLE: [_Option<LogosState>; 256] = [
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State1),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State3),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State5),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State6),
                            Some(LogosState::State7),
                            Some(LogosState::State7),
                            Some(LogosState::State7),
                            Some(LogosState::State8),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                        ];
                        let next_state = TABLE[byte as usize];
                        if let Some(next_state) = next_state {
                            offset += 1;
                            state = next_state;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State1 => {
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (byte == b'u') {
                            offset += 1;
                            state = LogosState::State57;
                            continue;
                        }
                        if (byte == b'U') {
                            offset += 1;
                            state = LogosState::State74;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State2 => {
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (matches!(byte, 128u8..= 191u8)) {
                            offset += 1;
                            state = LogosState::State0;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State3 => {
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (matches!(byte, 160u8..= 191u8)) {
                            offset += 1;
                            state = LogosState::State2;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State4 => {
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (matches!(byte, 128u8..= 191u8)) {
                            offset += 1;
                            state = LogosState::State2;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State5 => {
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (matches!(byte, 128u8..= 159u8)) {
                            offset += 1;
                            state = LogosState::State2;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State6 => {
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (matches!(byte, 144u8..= 191u8)) {
                            offset += 1;
                            state = LogosState::State4;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State7 => {
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (matches!(byte, 128u8..= 191u8)) {
                            offset += 1;
                            state = LogosState::State4;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State8 => {
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (matches!(byte, 128u8..= 143u8)) {
                            offset += 1;
                            state = LogosState::State4;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State9 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf60);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State10 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf44);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State11 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf59);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State12 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf45);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State13 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf10);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State14 => {
                    #[inline]
                    fn loop_test(byte: u8) -> bool {
                        _TABLE_0[byte as usize] & 1u8 == 0
                    }
                    _fast_loop!(lex, loop_test, offset);
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf4);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        const TABLE: [_Option<LogosState>; 256] = [
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State1),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State3),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State5),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State6),
                            Some(LogosState::State7),
                            Some(LogosState::State7),
                            Some(LogosState::State7),
                            Some(LogosState::State8),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                        ];
                        let next_state = TABLE[byte as usize];
                        if let Some(next_state) = next_state {
                            offset += 1;
                            state = next_state;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State15 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf8);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State16 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf38);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State17 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf34);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (byte == b'=') {
                            offset += 1;
                            state = LogosState::State18;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State18 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf57);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State19 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf39);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State20 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf18);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State21 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf12);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State22 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf33);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (byte == b'=') {
                            offset += 1;
                            state = LogosState::State24;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State23 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf37);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State24 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf56);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State25 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf14);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State26 => {
                    #[inline]
                    fn loop_test(byte: u8) -> bool {
                        _TABLE_0[byte as usize] & 2u8 == 0
                    }
                    _fast_loop!(lex, loop_test, offset);
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf6);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        const TABLE: [_Option<LogosState>; 256] = [
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State27),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State27),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State27),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State27),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State29),
                            Some(LogosState::State30),
                            Some(LogosState::State30),
                            Some(LogosState::State30),
                            Some(LogosState::State30),
                            Some(LogosState::State30),
                            Some(LogosState::State30),
                            Some(LogosState::State30),
                            Some(LogosState::State30),
                            Some(LogosState::State30),
                            Some(LogosState::State30),
                            Some(LogosState::State30),
                            Some(LogosState::State30),
                            Some(LogosState::State31),
                            Some(LogosState::State30),
                            Some(LogosState::State30),
                            Some(LogosState::State32),
                            Some(LogosState::State33),
                            Some(LogosState::State33),
                            Some(LogosState::State33),
                            Some(LogosState::State34),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                        ];
                        let next_state = TABLE[byte as usize];
                        if let Some(next_state) = next_state {
                            offset += 1;
                            state = next_state;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State27 => {
                    #[inline]
                    fn loop_test(byte: u8) -> bool {
                        _TABLE_0[byte as usize] & 4u8 == 0
                    }
                    _fast_loop!(lex, loop_test, offset);
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf6);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        const TABLE: [_Option<LogosState>; 256] = [
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State26),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State26),
                            None,
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            None,
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            None,
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            None,
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State26),
                            None,
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            None,
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            None,
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State28),
                            Some(LogosState::State29),
                            Some(LogosState::State30),
                            Some(LogosState::State30),
                            Some(LogosState::State30),
                            Some(LogosState::State30),
                            Some(LogosState::State30),
                            Some(LogosState::State30),
                            Some(LogosState::State30),
                            Some(LogosState::State30),
                            Some(LogosState::State30),
                            Some(LogosState::State30),
                            Some(LogosState::State30),
                            Some(LogosState::State30),
                            Some(LogosState::State31),
                            Some(LogosState::State30),
                            Some(LogosState::State30),
                            Some(LogosState::State32),
                            Some(LogosState::State33),
                            Some(LogosState::State33),
                            Some(LogosState::State33),
                            Some(LogosState::State34),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                        ];
                        let next_state = TABLE[byte as usize];
                        if let Some(next_state) = next_state {
                            offset += 1;
                            state = next_state;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State28 => {
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (matches!(byte, 128u8..= 191u8)) {
                            offset += 1;
                            state = LogosState::State26;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State29 => {
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (matches!(byte, 160u8..= 191u8)) {
                            offset += 1;
                            state = LogosState::State28;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State30 => {
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (matches!(byte, 128u8..= 191u8)) {
                            offset += 1;
                            state = LogosState::State28;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State31 => {
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (matches!(byte, 128u8..= 159u8)) {
                            offset += 1;
                            state = LogosState::State28;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State32 => {
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (matches!(byte, 144u8..= 191u8)) {
                            offset += 1;
                            state = LogosState::State30;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State33 => {
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (matches!(byte, 128u8..= 191u8)) {
                            offset += 1;
                            state = LogosState::State30;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State34 => {
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (matches!(byte, 128u8..= 143u8)) {
                            offset += 1;
                            state = LogosState::State30;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State35 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf3);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State36 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf2);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State37 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf52);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State38 => {
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (byte == b'.') {
                            offset += 1;
                            state = LogosState::State75;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State39 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf24);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State40 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf55);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State41 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf22);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State42 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf23);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State43 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf54);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State44 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf51);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State45 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf43);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State46 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf58);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State47 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf63);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (byte == b'%') {
                            offset += 1;
                            state = LogosState::State50;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State48 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf53);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State49 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf20);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State50 => {
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (byte == b':') {
                            offset += 1;
                            state = LogosState::State91;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State51 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf64);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State52 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf40);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State53 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf1);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State54 => {
                    #[inline]
                    fn loop_test(byte: u8) -> bool {
                        _TABLE_0[byte as usize] & 8u8 == 0
                    }
                    _fast_loop!(lex, loop_test, offset);
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf0);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State55 => {
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        const TABLE: [_Option<LogosState>; 256] = [
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State54),
                            Some(LogosState::State53),
                            Some(LogosState::State54),
                            Some(LogosState::State54),
                            Some(LogosState::State88),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State54),
                            Some(LogosState::State89),
                            Some(LogosState::State90),
                            Some(LogosState::State92),
                            Some(LogosState::State14),
                            Some(LogosState::State93),
                            Some(LogosState::State94),
                            Some(LogosState::State61),
                            Some(LogosState::State62),
                            Some(LogosState::State63),
                            Some(LogosState::State64),
                            Some(LogosState::State65),
                            Some(LogosState::State66),
                            Some(LogosState::State67),
                            Some(LogosState::State68),
                            Some(LogosState::State69),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State26),
                            Some(LogosState::State70),
                            Some(LogosState::State71),
                            Some(LogosState::State72),
                            Some(LogosState::State73),
                            Some(LogosState::State78),
                            Some(LogosState::State79),
                            None,
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State80),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State81),
                            Some(LogosState::State1),
                            Some(LogosState::State82),
                            Some(LogosState::State83),
                            Some(LogosState::State14),
                            None,
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State84),
                            Some(LogosState::State85),
                            Some(LogosState::State86),
                            Some(LogosState::State87),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State3),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State5),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State6),
                            Some(LogosState::State7),
                            Some(LogosState::State7),
                            Some(LogosState::State7),
                            Some(LogosState::State8),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                        ];
                        let next_state = TABLE[byte as usize];
                        if let Some(next_state) = next_state {
                            offset += 1;
                            state = next_state;
                            continue;
                        }
                    } else {
                        if lex.offset() == offset {
                            return None;
                        }
                    }
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State56 => {
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if _TABLE_0[byte as usize] & 16u8 != 0 {
                            offset += 1;
                            state = LogosState::State57;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State57 => {
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if _TABLE_0[byte as usize] & 16u8 != 0 {
                            offset += 1;
                            state = LogosState::State58;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State58 => {
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if _TABLE_0[byte as usize] & 16u8 != 0 {
                            offset += 1;
                            state = LogosState::State59;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State59 => {
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if _TABLE_0[byte as usize] & 16u8 != 0 {
                            offset += 1;
                            state = LogosState::State60;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State60 => {
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if _TABLE_0[byte as usize] & 16u8 != 0 {
                            offset += 1;
                            state = LogosState::State0;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State61 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf7);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State62 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf15);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State63 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf16);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State64 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf26);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (byte == b'=') {
                            offset += 1;
                            state = LogosState::State44;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State65 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf27);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (byte == b'+') {
                            offset += 1;
                            state = LogosState::State42;
                            continue;
                        }
                        if (byte == b'=') {
                            offset += 1;
                            state = LogosState::State43;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State66 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf61);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State67 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf28);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        const TABLE: [_Option<LogosState>; 256] = [
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State39),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State40),
                            Some(LogosState::State41),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                        ];
                        let next_state = TABLE[byte as usize];
                        if let Some(next_state) = next_state {
                            offset += 1;
                            state = next_state;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State68 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf21);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (matches!(byte, b'0'..= b'9')) {
                            offset += 1;
                            state = LogosState::State26;
                            continue;
                        }
                        if (byte == b'.') {
                            offset += 1;
                            state = LogosState::State38;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State69 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf31);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        const TABLE: [_Option<LogosState>; 256] = [
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State35),
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State36),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State37),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                        ];
                        let next_state = TABLE[byte as usize];
                        if let Some(next_state) = next_state {
                            offset += 1;
                            state = next_state;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State70 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf47);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (byte == b'>') {
                            offset += 1;
                            state = LogosState::State25;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State71 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf48);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State72 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf35);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        const TABLE: [_Option<LogosState>; 256] = [
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State20),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State21),
                            None,
                            Some(LogosState::State22),
                            Some(LogosState::State23),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                        ];
                        let next_state = TABLE[byte as usize];
                        if let Some(next_state) = next_state {
                            offset += 1;
                            state = next_state;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State73 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf50);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (byte == b'=') {
                            offset += 1;
                            state = LogosState::State19;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State74 => {
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if _TABLE_0[byte as usize] & 16u8 != 0 {
                            offset += 1;
                            state = LogosState::State76;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State75 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf49);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State76 => {
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if _TABLE_0[byte as usize] & 16u8 != 0 {
                            offset += 1;
                            state = LogosState::State77;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State77 => {
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if _TABLE_0[byte as usize] & 16u8 != 0 {
                            offset += 1;
                            state = LogosState::State56;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State78 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf36);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (byte == b'=') {
                            offset += 1;
                            state = LogosState::State16;
                            continue;
                        }
                        if (byte == b'>') {
                            offset += 1;
                            state = LogosState::State17;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State79 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf46);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State80 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf4);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        const TABLE: [_Option<LogosState>; 256] = [
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State13),
                            None,
                            Some(LogosState::State14),
                            None,
                            None,
                            Some(LogosState::State15),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            None,
                            Some(LogosState::State1),
                            None,
                            None,
                            Some(LogosState::State14),
                            None,
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            Some(LogosState::State14),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State2),
                            Some(LogosState::State3),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State5),
                            Some(LogosState::State4),
                            Some(LogosState::State4),
                            Some(LogosState::State6),
                            Some(LogosState::State7),
                            Some(LogosState::State7),
                            Some(LogosState::State7),
                            Some(LogosState::State8),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                        ];
                        let next_state = TABLE[byte as usize];
                        if let Some(next_state) = next_state {
                            offset += 1;
                            state = next_state;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State81 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf11);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State82 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf13);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State83 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf41);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (byte == b'=') {
                            offset += 1;
                            state = LogosState::State11;
                            continue;
                        }
                        if (byte == b'^') {
                            offset += 1;
                            state = LogosState::State12;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State84 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf17);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State85 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf42);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (byte == b'=') {
                            offset += 1;
                            state = LogosState::State9;
                            continue;
                        }
                        if (byte == b'|') {
                            offset += 1;
                            state = LogosState::State10;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State86 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf19);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State87 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf29);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State88 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf1);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (byte == 10u8) {
                            offset += 1;
                            state = LogosState::State53;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State89 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf30);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (byte == b'=') {
                            offset += 1;
                            state = LogosState::State52;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State90 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf9);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State91 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf65);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {} else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State92 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf62);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (byte == b'#') {
                            offset += 1;
                            state = LogosState::State51;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State93 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf32);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        const TABLE: [_Option<LogosState>; 256] = [
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            Some(LogosState::State47),
                            None,
                            None,
                            Some(LogosState::State48),
                            Some(LogosState::State49),
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                            None,
                        ];
                        let next_state = TABLE[byte as usize];
                        if let Some(next_state) = next_state {
                            offset += 1;
                            state = next_state;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
                LogosState::State94 => {
                    lex.end(offset);
                    context = Some(LogosLeaf::Leaf25);
                    let other = lex.read::<u8>(offset);
                    if let Some(byte) = other {
                        if (byte == b'&') {
                            offset += 1;
                            state = LogosState::State45;
                            continue;
                        }
                        if (byte == b'=') {
                            offset += 1;
                            state = LogosState::State46;
                            continue;
                        }
                    } else {}
                    _take_action!(lex, offset, context, state)
                }
            }
        }
    }
}
