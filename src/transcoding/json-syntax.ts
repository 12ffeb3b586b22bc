/**
 * The position at which a text stops being valid JSON (RFC 8259), in UTF-16 units from 0, and what
 * was expected at that position.
 */
export interface SyntaxProblem {
  readonly offset: number;
  readonly expected: string;
}

/**
 * Characters from the space on, except the quote and the backslash, or an escape. They are matched
 * in parts of at most 4096, because a regular expression uses a stack.
 */
const stringPart = /[ !#-[\]-\uffff]{1,4096}|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})/y;
const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

/**
 * Finds the first error in a text that JSON.parse() refused. The message of JSON.parse() may lack
 * the position or quote half of the text. The nesting of the text must be limited, since this
 * function is recursive.
 */
export function firstSyntaxError(text: string): SyntaxProblem {
  const scan = new JsonScan(text);
  return scan.value() ?? scan.end() ?? { offset: text.length, expected: "JSON" };
}

class JsonScan {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /**
   * Each of these methods either returns the first problem, or advances past its part and returns
   * undefined.
   */
  value(): SyntaxProblem | undefined {
    this.#skipSpace();
    switch (this.#text.charCodeAt(this.#at)) {
      case 0x7b:
        return this.#items("}", true);
      case 0x5b:
        return this.#items("]", false);
      case 0x22:
        return this.#string();
      case 0x74:
        return this.#word("true") ? undefined : this.#problem("a value");
      case 0x66:
        return this.#word("false") ? undefined : this.#problem("a value");
      case 0x6e:
        return this.#word("null") ? undefined : this.#problem("a value");
      default:
        return this.#skip(number) ? undefined : this.#problem("a value");
    }
  }

  end(): SyntaxProblem | undefined {
    this.#skipSpace();
    return this.#at < this.#text.length ? this.#problem("the end") : undefined;
  }

  #items(close: string, named: boolean): SyntaxProblem | undefined {
    this.#at++;
    if (this.#next(close)) return undefined;
    for (;;) {
      const problem = named ? this.#member() : this.value();
      if (problem !== undefined) return problem;
      if (this.#next(close)) return undefined;
      if (!this.#next(",")) return this.#problem(`"," or "${close}"`);
    }
  }

  #member(): SyntaxProblem | undefined {
    this.#skipSpace();
    if (this.#text[this.#at] !== '"') return this.#problem("a name in double quotes");
    const problem = this.#string();
    if (problem !== undefined) return problem;
    return this.#next(":") ? this.value() : this.#problem('":"');
  }

  #string(): SyntaxProblem | undefined {
    this.#at++;
    while (this.#skip(stringPart));
    if (this.#word('"')) return undefined;
    if (this.#text[this.#at] === "\\") return this.#problem("a valid escape");
    return this.#problem("the closing quote; control characters are written as escapes");
  }

  #next(char: string): boolean {
    this.#skipSpace();
    return this.#word(char);
  }

  #word(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false;
    this.#at += word.length;
    return true;
  }

  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  #skipSpace(): void {
    for (; ; this.#at++) {
      const char = this.#text.charCodeAt(this.#at);
      if (char !== 0x20 && char !== 0x0a && char !== 0x0d && char !== 0x09) return;
    }
  }

  #problem(expected: string): SyntaxProblem {
    return { offset: this.#at, expected };
  }
}
