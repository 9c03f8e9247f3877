import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { nextCursor, pageQuery, wholeNumber } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

/** A key that may act for an agent, as every caller with a token sees it. */
export const Device = v.object({
  device_id: v.string(),
  agent_id: v.string(),
  public_key: v.string(),
  did: v.string(),
  device_name: describeAs(v.nullable(v.string()), "The name of the device; null if there is none."),
  registered_at: wholeNumber,
  revoked: describeAs(v.boolean(), "Whether the device is revoked."),
});
export type Device = v.InferOutput<typeof Device>;

const OwnDevice = v.object({
  ...Device.entries,
  scopes: describeAs(v.array(v.string()), "The scopes that tokens of the device may contain."),
});

export const devices = {
  getDevice: defineOperation({
    method: "GET",
    path: "/api/v1/devices/:deviceId",
    summary: "Get a device and its public key.",
    section: "Registry",
    auth: "bearer",
    audited: "never",
    tier: "read",
    ok: { 200: Device },
    refusals: ["device.not_found"],
  }),
  listDevices: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/devices",
    summary: "List an agent's devices and their scopes, including revoked ones.",
    section: "Registry",
    auth: "bearer",
    audited: "never",
    ownerOnly: true,
    tier: "read",
    query: v.object(pageQuery),
    ok: {
      200: v.object({
        devices: describeAs(v.array(OwnDevice), "The devices."),
        next_cursor: nextCursor,
      }),
    },
    refusals: ["request.invalid"],
  }),
  revokeDevice: defineOperation({
    method: "DELETE",
    path: "/api/v1/agents/:agentId/devices/:deviceId",
    summary:
      "Revoke a device permanently, with its tokens and sockets; a device may always revoke itself.",
    section: "Registry",
    auth: "bearer",
    operator: "operate",
    ownerOnly: true,
    scope: "agent:write",
    ownDevice: true,
    singleUse: true,
    tier: "auth",
    ok: {
      200: v.object({
        device_id: v.string(),
        revoked: describeAs(v.literal(true), "Always true: the device is revoked."),
      }),
    },
    refusals: ["device.not_found", "device.carries_agent_key"],
  }),
} as const;
