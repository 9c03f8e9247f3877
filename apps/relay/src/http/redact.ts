export const REDACTED = "[redacted]";

const secretName =
  /(authorization|cookie|passphrase|password|private[_-]?key|secret[_-]?key|api[_-]?key|secret|seed|token|payment[_-]signature)([_-]?hex)?$/i;
const bearer = /\b(bearer)\s+\S+/gi;
// The header of every JWS begins with `{"`, which reads eyJ in base64url. Looking behind, where \b
// would also see a start after each hyphen, keeps the search linear in hostile text.
const signedToken = /(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]+/g;

/** Whether a member of this name holds a credential, whatever its value looks like. */
export const isSecretName = (name: string): boolean => secretName.test(name);

export interface Redactor {
  (text: string): string;
  /** Takes these secrets out as well from now on. */
  add(secrets: readonly string[]): void;
}

/** Takes the given secrets out of any text they stand in, and whatever has the form of a token. */
export function createRedactor(secrets: readonly string[]): Redactor {
  let known: readonly string[] = [];
  const add = (more: readonly string[]) => {
    // Longest first, so that a secret which contains another leaves no rest behind.
    known = [...new Set([...known, ...more])]
      .filter((secret) => secret !== "")
      .toSorted((a, b) => b.length - a.length);
  };
  add(secrets);
  const redact = (text: string) => {
    let clean = text;
    for (const secret of known) {
      if (clean.includes(secret)) clean = clean.replaceAll(secret, REDACTED);
    }
    return clean.replace(bearer, `$1 ${REDACTED}`).replace(signedToken, REDACTED);
  };
  return Object.assign(redact, { add });
}
