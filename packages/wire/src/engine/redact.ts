/** The text that replaces a secret in a log. */
export const REDACTED = "[redacted]";

const secretMemberName =
  /(authorization|cookie|passphrase|password|private[_-]?key|secret[_-]?key|api[_-]?key|secret|seed|token|payment[_-]signature)([_-]?hex)?$/i;
const bearerToken = /\b(bearer)\s+\S+/gi;
// The header of every JWS begins with `{"`, which is eyJ in base64url. A lookbehind keeps the search
// linear in hostile text, where \b would also match after each hyphen.
const signedToken = /(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]+/g;
const SECRET_NAME =
  "(?:authorization|cookie|passphrase|password|(?:private|secret|api)[_ -]?key|secret|token)";
const secretNamePattern = new RegExp(SECRET_NAME, "i");
// `api_key=...` and `"token": "..."`, as in messages of other programs.
const assignedSecret = new RegExp(
  `(${SECRET_NAME}(?:[_-]?hex)?(?:=|["']\\s*[:=]\\s*["']))[^\\s"'&;,]+`,
  "gi",
);
// `the token abc123...`: only long words with a digit, because most words after "token" are not secrets.
const mentionedSecret = new RegExp(
  `(\\b${SECRET_NAME}:?\\s+["']?)(?=[\\w.+/=-]*\\d)[\\w.+/=-]{16,}`,
  "gi",
);

// Each of the four forms above needs one of these characters, which most ids and codes lack.
const secretFormCharacter = /[\s.="']/;

/** Returns whether a member of this name holds a secret, regardless of its value. */
export const isSecretName = (name: string): boolean => secretMemberName.test(name);

export interface Redactor {
  (text: string): string;
  /** Adds secrets to be redacted from now on. */
  add(secrets: readonly string[]): void;
}

/**
 * Creates a function that replaces the given secrets in a text, and everything that looks like a token or
 * is named as one. It runs in linear time.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  let knownSecrets: readonly string[] = [];
  const add = (more: readonly string[]) => {
    // Longest first, so that a secret that contains another one is replaced completely.
    knownSecrets = [...new Set([...knownSecrets, ...more])]
      .filter((secret) => secret !== "")
      .toSorted((a, b) => b.length - a.length);
  };
  add(secrets);
  const redact = (text: string) => {
    let clean = text;
    for (const secret of knownSecrets) {
      if (clean.includes(secret)) clean = clean.replaceAll(secret, REDACTED);
    }
    if (!secretFormCharacter.test(clean)) return clean;
    clean = clean.replace(bearerToken, `$1 ${REDACTED}`).replace(signedToken, REDACTED);
    // Most texts name no secret, and one test is cheaper than two replacements.
    if (!secretNamePattern.test(clean)) return clean;
    return clean.replace(assignedSecret, `$1${REDACTED}`).replace(mentionedSecret, `$1${REDACTED}`);
  };
  return Object.assign(redact, { add });
}
