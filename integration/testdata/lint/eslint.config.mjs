// Rules for errors that tsc does not report. It reports undefined names, so no-undef is not among them.
const rules = [
  'array-callback-return', 'constructor-super', 'default-case-last', 'dot-notation', 'eqeqeq', 'for-direction', 'getter-return', 'no-async-promise-executor', 'no-caller', 'no-class-assign', 'no-compare-neg-zero',
  'no-cond-assign', 'no-const-assign', 'no-constant-binary-expression', 'no-constant-condition', 'no-constructor-return', 'no-control-regex', 'no-debugger', 'no-dupe-class-members', 'no-dupe-else-if', 'no-dupe-keys',
  'no-duplicate-imports', 'no-empty-character-class', 'no-empty-pattern', 'no-eval', 'no-ex-assign', 'no-extend-native', 'no-fallthrough', 'no-func-assign', 'no-implied-eval', 'no-import-assign', 'no-invalid-regexp',
  'no-irregular-whitespace', 'no-lone-blocks', 'no-loss-of-precision', 'no-misleading-character-class', 'no-new-func', 'no-new-wrappers', 'no-obj-calls', 'no-object-constructor', 'no-octal', 'no-promise-executor-return',
  'no-prototype-builtins', 'no-redeclare', 'no-script-url', 'no-self-assign', 'no-self-compare', 'no-setter-return', 'no-sparse-arrays', 'no-template-curly-in-string', 'no-this-before-super', 'no-throw-literal',
  'no-unexpected-multiline', 'no-unmodified-loop-condition', 'no-unreachable', 'no-unreachable-loop', 'no-unsafe-finally', 'no-unsafe-negation', 'no-unsafe-optional-chaining', 'no-unused-labels',
  'no-unused-private-class-members', 'no-useless-catch', 'no-useless-computed-key', 'no-useless-escape', 'no-useless-rename', 'no-useless-return', 'no-var', 'no-with', 'object-shorthand', 'prefer-const', 'prefer-promise-reject-errors',
  'radix', 'require-yield', 'use-isnan', 'valid-typeof',
];

export default [{
  linterOptions: { reportUnusedDisableDirectives: 'error' },
  rules: { ...Object.fromEntries(rules.map((rule) => [rule, 'error'])), 'no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }] },
}];
