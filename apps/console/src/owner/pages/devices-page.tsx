import { useState } from "preact/hooks";
import { AnswerView } from "../../shared/components/answer-view.tsx";
import { RowTable } from "../../shared/components/page-table.tsx";
import { ForeignLine, ShortId, TimeText } from "../../shared/components/foreign-text.tsx";
import { usePageContext } from "../../shared/relay/page-context.ts";
import { useAnswer } from "../../shared/relay/use-answer.ts";
import { AskDialog } from "../ask-dialog.tsx";
import { formatFingerprint } from "../device/browser-key.ts";
import { useOwnerContext } from "../owner-context.ts";

/** The keys that may act for the agent, with a button that ends this browser's key. */
export function DevicesPage() {
  const { agentId, deviceId } = useOwnerContext().device;
  const answer = useAnswer("listDevices", { params: { agentId }, query: { limit: 200 } });
  return (
    <>
      <EndButton />
      <AnswerView answer={answer}>
        {({ devices }) => (
          <RowTable
            caption="Devices of the agent"
            rows={devices.toReversed()}
            rowKey={({ device_id }) => device_id}
            empty="There are no devices."
            tone={({ revoked }) => (revoked ? "doubt" : undefined)}
            columns={[
              {
                title: "Name",
                cell: ({ device_id, device_name }) => (
                  <>
                    <ForeignLine text={device_name ?? "the agent itself"} />
                    {device_id === deviceId && <strong> (this browser)</strong>}
                  </>
                ),
              },
              {
                title: "Key",
                cell: ({ public_key }) => <code>{formatFingerprint(public_key)}</code>,
              },
              { title: "Scopes", cell: ({ scopes }) => scopes.join(", ") },
              { title: "Since", cell: ({ registered_at }) => <TimeText at={registered_at} /> },
              { title: "State", cell: ({ revoked }) => (revoked ? "ended" : "in force") },
              { title: "Id", cell: ({ device_id }) => <ShortId id={device_id} /> },
            ]}
          />
        )}
      </AnswerView>
      <p class="hint">
        This browser can end only itself. To end any other device, run{" "}
        <code>agent-server unpair DEVICE_ID</code> where your agent runs.
      </p>
    </>
  );
}

function EndButton() {
  const { relay } = usePageContext();
  const { device, onEnded } = useOwnerContext();
  const [isAsking, setAsking] = useState(false);
  const { agentId, deviceId } = device;
  return (
    <>
      <button type="button" onClick={() => setAsking(true)}>
        End this device …
      </button>
      {isAsking && (
        <AskDialog
          title="End this device?"
          verb="End this device"
          consequence="This browser can no longer see the agent, and its key is deleted. To see the agent here again, pair this browser again."
          run={() => relay.call("revokeDevice", { params: { agentId, deviceId } })}
          onClose={(isDone) => {
            setAsking(false);
            if (isDone) onEnded();
          }}
        />
      )}
    </>
  );
}
