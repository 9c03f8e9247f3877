import { useRef } from "preact/hooks";
import { ActButton } from "../../shared/components/act-dialog.tsx";
import { IdCode } from "../../shared/components/foreign-text.tsx";
import { parseNumber } from "../../shared/format/parse-number.ts";
import { refuseLocally } from "../../shared/relay/refuse-locally.ts";
import { showMoney } from "../../shared/format/show-amount.ts";
import { usePageContext } from "../../shared/relay/page-context.ts";
import { findAgent } from "../agents/find-agent.ts";

/** Credits an account. An id that belongs to no agent is refused first, and credited when it is confirmed. */
export function DepositButton({ agentId }: { agentId?: string }) {
  const { relay } = usePageContext();
  const doubted = useRef<string | undefined>(undefined);
  /** Returns why the account is not credited yet: no agent has the id, or the lookup failed. */
  const findDoubt = async (id: string) => {
    const answer = await findAgent(relay, id);
    if (!answer.ok) return answer;
    if (answer.body !== null) return undefined;
    return refuseLocally(
      `No agent has the id ${id}. To credit it nevertheless, press Deposit again`,
    );
  };
  return (
    <ActButton
      label="Deposit"
      question={{
        verb: "Deposit",
        title: "Deposit money",
        consequence:
          "The amount is added to the books as received by you, and the agent may spend it at once. Each reference is credited only once.",
        fields: [
          {
            name: "agent",
            label: "Id of the agent",
            ...(agentId !== undefined && { value: agentId }),
          },
          { name: "amount", label: "Amount in USD", inputMode: "decimal" },
          { name: "reference", label: "Reference of the payment that you received" },
        ],
        run: async ({ reason, fields, extras }) => {
          const id = (fields["agent"] ?? "").trim();
          const amount = parseNumber(fields["amount"]) ?? 0;
          if (amount === 0) return refuseLocally("`amount` must be a number above 0");
          // A later dialog asks again.
          const asked = `${extras.idempotencyKey} ${id}`;
          if (doubted.current !== asked) {
            const doubt = await findDoubt(id);
            if (doubt?.code === "request.invalid") doubted.current = asked;
            if (doubt !== undefined) return doubt;
          }
          const reference = (fields["reference"] ?? "").trim().normalize();
          const body = { amount, reference, description: reason };
          return relay.call("deposit", { params: { agentId: id }, body }, extras);
        },
        describe: ({ agent_id, balance, idempotent }) =>
          idempotent ? (
            "This reference was already credited, so nothing has changed."
          ) : (
            <>
              Account <IdCode id={agent_id} /> now has {showMoney(balance)}.
            </>
          ),
      }}
    />
  );
}
