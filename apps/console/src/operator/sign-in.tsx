import { useState } from "preact/hooks";
import type { CallRefusal } from "@agent/client";
import { RefusalText } from "../shared/components/answer-view.tsx";
import type { OperatorSession } from "./operator-session.ts";
import { readField } from "../shared/format/read-field.ts";

/** The form for both ways to sign in. A link with a code needs no form. */
export function SignIn({
  session,
  refusal: first,
}: {
  session: OperatorSession;
  /** Why signing in with the code in the address failed. */
  refusal: CallRefusal | undefined;
}) {
  return (
    <main class="sign-in" data-page="sign-in">
      <h1 tabIndex={-1}>Operator's console</h1>
      <p>
        Run <code>agent-relay console</code> and open the link that it prints: it works once, within
        five minutes. Or enter the relay's token:
      </p>
      <TokenForm session={session} refusal={first} verb="Sign in" />
      <p class="hint">
        The token is sent to this relay once and is not kept. No secret is stored in this browser.{" "}
        <a href="./verify">Verify a file</a> and <a href="./log">the log</a> need no token.
      </p>
    </main>
  );
}

/** Accepts the master token, or a code of `agent-relay console`. */
export function TokenForm({
  session,
  refusal: first,
  verb,
  onDone,
}: {
  session: OperatorSession;
  refusal?: CallRefusal | undefined;
  verb: string;
  onDone?: () => void;
}) {
  const [refusal, setRefusal] = useState(first);
  const [isRunning, setRunning] = useState(false);
  const submit = async (form: HTMLFormElement) => {
    setRunning(true);
    const given = readField(new FormData(form), "secret");
    form.reset();
    const code = /#code=([\w-]+)$/.exec(given)?.[1];
    const refused = await (code === undefined
      ? session.openByToken(given)
      : session.openByCode(code));
    setRunning(false);
    setRefusal(refused);
    if (refused === undefined) onDone?.();
  };
  return (
    <form
      class="token-form"
      onSubmit={(event) => {
        event.preventDefault();
        void submit(event.currentTarget);
      }}
    >
      <label>
        Token of the relay, or a new link
        <input type="password" name="secret" required autocomplete="off" autoFocus />
      </label>
      <button type="submit" class="button" disabled={isRunning}>
        {verb}
      </button>
      {refusal !== undefined && <RefusalText refusal={refusal} />}
    </form>
  );
}
