/** What stands in a log in the place of a secret. */
export const REDACTED = "[redacted]";

const secretMemberName =
  /(authorization|cookie|passphrase|password|private[_-]?key|secret[_-]?key|api[_-]?key|secret|seed|token|payment[_-]signature)([_-]?hex)?$/i;
const bearer = /\b(bearer)\s+\S+/gi;
// The header of every JWS begins with `{"`, which reads eyJ in base64url. Looking behind, where \b
// would also see a start after each hyphen, keeps the search linear in hostile text.
const signedToken = /(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]+/g;
const SECRET_NAME =
  "(?:authorization|cookie|passphrase|password|(?:private|secret|api)[_ -]?key|secret|token)";
const secretNamePattern = new RegExp(SECRET_NAME, "i");
// `api_key=...` and `"token": "..."`, as messages of other programs name them.
const assignedSecret = new RegExp(
  `(${SECRET_NAME}(?:[_-]?hex)?(?:=|["']\\s*[:=]\\s*["']))[^\\s"'&;,]+`,
  "gi",
);
// `the token abc123...`: only what is long and has a digit, for most words behind "token" are no secret.
const mentionedSecret = new RegExp(
  `(\\b${SECRET_NAME}:?\\s+["']?)(?=[\\w.+/=-]*\\d)[\\w.+/=-]{16,}`,
  "gi",
);

// Each of the four forms above needs one of these characters, which most ids and codes do not have.
const formCharacter = /[\s.="']/;

/** Whether a member of this name holds a credential, whatever its value looks like. */
export const isSecretName = (name: string): boolean => secretMemberName.test(name);

export interface Redactor {
  (text: string): string;
  /** Takes these secrets out as well from now on. */
  add(secrets: readonly string[]): void;
}

/**
 * Takes the given secrets out of any text they stand in, and whatever has the form of a token or is named
 * as one. The time it takes is linear in the text.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  let knownSecrets: readonly string[] = [];
  const add = (more: readonly string[]) => {
    // Longest first, so that a secret which contains another leaves no rest behind.
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
    if (!formCharacter.test(clean)) return clean;
    clean = clean.replace(bearer, `$1 ${REDACTED}`).replace(signedToken, REDACTED);
    // Most texts name no secret, and one look is cheaper than two.
    if (!secretNamePattern.test(clean)) return clean;
    return clean.replace(assignedSecret, `$1${REDACTED}`).replace(mentionedSecret, `$1${REDACTED}`);
  };
  return Object.assign(redact, { add });
}
