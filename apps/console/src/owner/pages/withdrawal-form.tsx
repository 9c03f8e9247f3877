import { useRef, useState } from "preact/hooks";
import { AskDialog } from "../ask-dialog.tsx";
import { QuotedText } from "../../shared/components/foreign-text.tsx";
import { showMoney } from "../../shared/format/show-amount.ts";
import { usePageContext } from "../../shared/relay/page-context.ts";
import { NOT_BLANK } from "../../shared/format/not-blank.ts";
import { readField } from "../../shared/format/read-field.ts";
import { keepWithdrawal, type WantedWithdrawal } from "../views/keep-withdrawal.ts";

/** Requests a withdrawal, after a confirmation. */
export function WithdrawalForm({ agentId, onDone }: { agentId: string; onDone: () => void }) {
  const { relay } = usePageContext();
  const [wanted, setWanted] = useState<WantedWithdrawal>();
  const unanswered = useRef<WantedWithdrawal | undefined>(undefined);
  const submit = (form: FormData) => {
    const amount = Number(form.get("amount"));
    const destination = readField(form, "destination");
    const idempotencyKey = crypto.randomUUID();
    setWanted(keepWithdrawal(unanswered.current, { amount, destination, idempotencyKey }));
  };
  const request = (asked: WantedWithdrawal) => {
    const { idempotencyKey, ...body } = asked;
    unanswered.current = asked;
    return relay.call("requestWithdrawal", { params: { agentId }, body }, { idempotencyKey });
  };
  return (
    <form
      class="token-form"
      onSubmit={(event) => {
        event.preventDefault();
        submit(new FormData(event.currentTarget));
      }}
    >
      <label>
        Amount in USD
        <input
          type="text"
          name="amount"
          inputMode="decimal"
          pattern="\d+(\.\d{1,6})?"
          autocomplete="off"
          required
        />
      </label>
      <label>
        Destination, in the form that your operator requires
        <input
          type="text"
          name="destination"
          maxLength={256}
          autocomplete="off"
          required
          {...NOT_BLANK}
        />
      </label>
      <button type="submit">Withdraw …</button>
      {wanted !== undefined && (
        <AskDialog
          title="Withdraw from the account?"
          verb="Withdraw"
          consequence={
            <p>
              {showMoney(wanted.amount)} leaves the balance at once. The operator then pays it to{" "}
              <QuotedText text={wanted.destination} />.
            </p>
          }
          run={() => request(wanted)}
          onClose={(isDone) => {
            setWanted(undefined);
            if (!isDone) return;
            unanswered.current = undefined;
            onDone();
          }}
        />
      )}
    </form>
  );
}
