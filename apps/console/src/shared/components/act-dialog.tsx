import { createContext, type ComponentChildren } from "preact";
import { useContext, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { CallRefusal } from "@agent/client";
import type { CallExtras, PageAnswer } from "../relay/call-relay.ts";
import { usePageContext } from "../relay/page-context.ts";
import { RefusalText } from "./answer-view.tsx";
import { NOT_BLANK } from "../format/not-blank.ts";
import { readField } from "../format/read-field.ts";

/** The question that the user answers before an action. */
export interface ActQuestion<Body> {
  /** The verb on the button, such as "Complete". */
  readonly verb: string;
  readonly title: string;
  /** States the effect, with amounts and names. */
  readonly consequence: ComponentChildren;
  /** The fields in addition to the reason. */
  readonly fields?: readonly ActField[];
  /** A word that must be typed before a destructive action. */
  readonly typedWord?: string;
  readonly run: (given: GivenAct) => Promise<PageAnswer<Body>>;
  /** Describes the relay's answer in words. */
  readonly describe: (body: Body) => ComponentChildren;
}

export interface ActField {
  readonly name: string;
  readonly label: string;
  readonly value?: string;
  readonly inputMode?: "decimal" | "url";
}

export interface GivenAct {
  readonly reason: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly extras: CallExtras & { readonly reason: string; readonly idempotencyKey: string };
}

const OpenDialog = createContext<(dialog: ComponentChildren) => void>(() => undefined);
const Renewal = createContext<ComponentChildren>(null);

/**
 * Shows the dialogs of all buttons inside it, until they are closed or another view opens. A dialog outlives
 * its button, because the action itself may change the part of the page that contained the button. It also outlives
 * the session, so that nothing typed into it is lost; `renewal` is the form by which it can act again.
 */
export function ActDialogs({
  renewal,
  children,
}: {
  renewal: ComponentChildren;
  children: ComponentChildren;
}) {
  const [dialog, setDialog] = useState<ComponentChildren>();
  const route = usePageContext().route.value;
  useEffect(() => setDialog(undefined), [route]);
  return (
    <OpenDialog.Provider value={setDialog}>
      {children}
      <Renewal.Provider value={renewal}>{dialog}</Renewal.Provider>
    </OpenDialog.Provider>
  );
}

/** A button that asks for confirmation before it acts. */
export function ActButton<Body>({
  label,
  question,
  onDone,
}: {
  label: string;
  question: ActQuestion<Body>;
  onDone?: () => void;
}) {
  const openDialog = useContext(OpenDialog);
  const { mayAct } = usePageContext();
  const close = (isDone: boolean) => {
    openDialog(undefined);
    if (isDone) onDone?.();
  };
  return (
    <button
      type="button"
      class="act"
      onClick={() => openDialog(<ActDialog question={question} onClose={close} />)}
      aria-disabled={mayAct.value ? undefined : "true"}
      title={mayAct.value ? undefined : "This session is read-only"}
    >
      {label}
    </button>
  );
}

function ActDialog<Body>({
  question,
  onClose,
}: {
  question: ActQuestion<Body>;
  onClose: (isDone: boolean) => void;
}) {
  const { mayAct } = usePageContext();
  const dialog = useRef<HTMLDialogElement>(null);
  // A second click on the dialog's button repeats the same action.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const [answer, setAnswer] = useState<{ readonly body: Body } | undefined>();
  const [refusal, setRefusal] = useState<CallRefusal | undefined>();
  const [isRunning, setRunning] = useState(false);
  const renewal = useContext(Renewal);
  const closeButton = useRef<HTMLButtonElement>(null);
  // An effect after the first paint would miss an early press of Escape.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  useEffect(() => closeButton.current?.focus(), [answer]);
  const submit = async (form: FormData) => {
    setRunning(true);
    const texts = Object.fromEntries([...form.keys()].map((name) => [name, readField(form, name)]));
    const { reason = "", typed: _typed, ...fields } = texts;
    const result = await question.run({ reason, fields, extras: { reason, idempotencyKey } });
    setRunning(false);
    setRefusal(result.ok ? undefined : result);
    if (result.ok) setAnswer({ body: result.body });
  };
  return (
    <dialog ref={dialog} aria-labelledby="act-title" onClose={() => onClose(answer !== undefined)}>
      <h2 id="act-title">{question.title}</h2>
      {answer === undefined && !mayAct.value && renewal}
      {answer === undefined ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void submit(new FormData(event.currentTarget));
          }}
        >
          <p class="consequence">{question.consequence}</p>
          <ActFields question={question} />
          {refusal !== undefined && <RefusalText refusal={refusal} />}
          <div class="buttons">
            <button type="button" onClick={() => dialog.current?.close()}>
              Cancel
            </button>
            <button type="submit" class="button" disabled={isRunning || !mayAct.value}>
              {question.verb}
            </button>
          </div>
        </form>
      ) : (
        <div role="status">
          <p>{question.describe(answer.body)}</p>
          <div class="buttons">
            <button type="button" ref={closeButton} onClick={() => dialog.current?.close()}>
              Close
            </button>
          </div>
        </div>
      )}
    </dialog>
  );
}

function ActFields<Body>({ question }: { question: ActQuestion<Body> }) {
  const { fields = [], typedWord } = question;
  return (
    <>
      {fields.map(({ name, label, value, inputMode }) => (
        <label key={name}>
          {label}
          <input
            type="text"
            name={name}
            required
            {...NOT_BLANK}
            defaultValue={value}
            inputMode={inputMode}
            autocomplete="off"
          />
        </label>
      ))}
      <label>
        Reason, recorded in the audit
        <input
          type="text"
          name="reason"
          required
          maxLength={200}
          autocomplete="off"
          {...NOT_BLANK}
        />
      </label>
      {typedWord !== undefined && (
        <label>
          Type <strong>{typedWord}</strong> to continue
          <input type="text" name="typed" required pattern={typedWord} autocomplete="off" />
        </label>
      )}
    </>
  );
}
