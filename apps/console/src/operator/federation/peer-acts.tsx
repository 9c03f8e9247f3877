import { ActButton, type GivenAct } from "../../shared/components/act-dialog.tsx";
import { IdCode, QuotedText } from "../../shared/components/foreign-text.tsx";
import { parseNumber } from "../../shared/format/parse-number.ts";
import { showMoney } from "../../shared/format/show-amount.ts";
import type { RelayCaller } from "../../shared/relay/call-relay.ts";
import { refuseLocally } from "../../shared/relay/refuse-locally.ts";
import { usePageContext } from "../../shared/relay/page-context.ts";
import { describePosition } from "./describe-position.ts";
import type { Peer } from "./peer.ts";

interface ActsProps {
  readonly peer: Peer;
  readonly onDone: () => void;
}

/** Offers the operator's actions for a peer: recording external payments, setting its limit, removing it. */
export function PeerActs({ peer, onDone }: ActsProps) {
  const { relay } = usePageContext();
  const { relay_id: relayId } = peer;
  const name = <PeerName peer={peer} />;
  return (
    <p class="acts">
      <PaymentButton peer={peer} onDone={onDone} />
      <ActButton
        label="Change the credit limit"
        onDone={onDone}
        question={{
          verb: "Change",
          title: "Change the credit limit",
          consequence: (
            <>
              {name} and this relay may owe each other at most {showMoney(peer.credit_limit)} now.
              If that relay never pays, you may lose up to the limit.
            </>
          ),
          fields: [{ name: "limit", label: "New credit limit in USD", inputMode: "decimal" }],
          run: async ({ fields, extras }) => {
            const limit = parseNumber(fields["limit"]);
            if (limit === undefined)
              return refuseLocally("The credit limit must be a number of 0 or more");
            const body = { credit_limit: limit };
            return relay.call("setPeerCredit", { params: { relayId }, body }, extras);
          },
          describe: ({ credit_limit }) => `The credit limit is now ${showMoney(credit_limit)}.`,
        }}
      />
      {peer.state !== "removed" && (
        <ActButton
          label="Remove"
          onDone={onDone}
          question={{
            verb: "Remove",
            title: "Remove a peer",
            consequence: (
              <>
                {name} and this relay forward no more tasks to each other until you add it again.
                What is owed stays owed: {describePosition(peer.position)}.
              </>
            ),
            typedWord: "remove",
            run: ({ extras }) => relay.call("removePeer", { params: { relayId } }, extras),
            describe: () => <>{name} is removed.</>,
          }}
        />
      )}
    </p>
  );
}

/** The peer chose its name itself, so its id is shown beside the name. */
function PeerName({ peer: { display_name, relay_id } }: { peer: Peer }) {
  return (
    <>
      <QuotedText text={display_name} /> (relay <IdCode id={relay_id} />)
    </>
  );
}

function PaymentButton({ peer, onDone }: ActsProps) {
  const { relay } = usePageContext();
  return (
    <>
      {(["sent", "received"] as const).map((direction) => (
        <ActButton
          key={direction}
          label={direction === "sent" ? "We paid" : "We were paid"}
          onDone={onDone}
          question={{
            verb: "Record",
            title:
              direction === "sent" ? "Record a payment to a peer" : "Record a payment from a peer",
            consequence: (
              <>
                The payment {direction === "sent" ? "to" : "from"} <PeerName peer={peer} /> was made
                outside of the relay; this only records it. Position now:{" "}
                {describePosition(peer.position)}. The other operator must record it as well.
              </>
            ),
            fields: [
              { name: "amount", label: "Amount in USD", inputMode: "decimal" },
              { name: "reference", label: "Reference of the payment" },
            ],
            run: (given) => recordPayment(relay, peer.relay_id, direction, given),
            describe: ({ position }) =>
              `The payment is recorded. Position now: ${describePosition(position)}.`,
          }}
        />
      ))}
    </>
  );
}

async function recordPayment(
  relay: RelayCaller,
  relayId: string,
  direction: "sent" | "received",
  { fields, extras }: GivenAct,
) {
  const amount = parseNumber(fields["amount"]) ?? 0;
  if (amount === 0) return refuseLocally("`amount` must be a number above 0");
  const reference = (fields["reference"] ?? "").trim().normalize();
  const body = { amount, direction, reference };
  return relay.call("settlePeer", { params: { relayId }, body }, extras);
}
