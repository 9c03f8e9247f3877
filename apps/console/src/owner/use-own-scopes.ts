import { useAnswer } from "../shared/relay/use-answer.ts";
import { useOwnerContext } from "./owner-context.ts";

/** Reads what the owner granted this browser; undefined until it is known. */
export function useOwnScopes(): readonly string[] | undefined {
  const { agentId, deviceId } = useOwnerContext().device;
  const { body } = useAnswer("listDevices", { params: { agentId }, query: { limit: 200 } });
  return body?.devices.find(({ device_id }) => device_id === deviceId)?.scopes;
}
