import { errors, type Code } from "../errors.ts";

/** A refusal as a value: the code determines status and text, `detail` names the field or the reason. */
export interface Refusal<C extends Code = Code> {
  readonly ok: false;
  readonly code: C;
  readonly detail?: string;
  readonly issues?: readonly Issue[];
  readonly retryAfterSeconds?: number;
  /** Headers of the answer, names in lower case. */
  readonly headers?: { readonly [name: string]: string };
  /** Additional members of the body. */
  readonly members?: { readonly [name: string]: unknown };
}

/** One fault of a request: the dotted path of the field and the rule that it breaks. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

/** Builds a refusal; `detail` is appended to the code's text and must be safe to show. */
export function refuse<C extends Code>(code: C, detail?: string): Refusal<C> {
  return detail === undefined ? { ok: false, code } : { ok: false, code, detail };
}

/** Returns the text of the refusal's code, followed by the field or the reason where there is one. */
export function formatRefusal({ code, detail }: Pick<Refusal, "code" | "detail">): string {
  const { text } = errors[code];
  return detail === undefined ? text : `${text}: ${detail}`;
}

/** The JSON body of every error answer (docs/decisions.md, 1); `error` and `message` are the same text. */
export interface ErrorBody {
  readonly error: string;
  readonly message: string;
  readonly code: Code;
  readonly status: number;
  readonly request_id: string;
  readonly retry_after?: number;
  readonly issues?: readonly Issue[];
}

/** Builds the body of an error answer; absent members of the refusal are left out. */
export function buildErrorBody(refusal: Refusal, requestId: string): ErrorBody {
  const { status } = errors[refusal.code];
  const message = formatRefusal(refusal);
  return {
    ...refusal.members,
    error: message,
    message,
    code: refusal.code,
    status,
    request_id: requestId,
    ...(refusal.retryAfterSeconds !== undefined && { retry_after: refusal.retryAfterSeconds }),
    ...(refusal.issues !== undefined && { issues: refusal.issues }),
  };
}
