import { EVENT_TYPE_NAMES, type EventType } from "../events/types.ts";

/** The receivers of a channel: people by mail, or a team in its chat. */
export const CHANNEL_KINDS = [
	"DEVICE_OWNERS",
	"OVERDUE_WORK",
	"ADMINISTRATORS",
	"SLACK",
	"TEAMS",
] as const;
export type ChannelKind = (typeof CHANNEL_KINDS)[number];

export const CHAT_KINDS = ["SLACK", "TEAMS"] as const;
export type ChatKind = (typeof CHAT_KINDS)[number];

export function isChat(kind: ChannelKind): kind is ChatKind {
	return (CHAT_KINDS as readonly string[]).includes(kind);
}

/** Kinds whose channel sends a mail every week. */
export function hasDigest(kind: ChannelKind): boolean {
	return kind === "DEVICE_OWNERS" || kind === "OVERDUE_WORK";
}

/** Events that a channel can tell. */
export const TOLD_EVENTS = EVENT_TYPE_NAMES.filter(
	(name) => name !== "webhook.test",
) as [EventType, ...EventType[]];

/**
 * Events that a new channel tells unless others are chosen. Changes of records are left out,
 * because there are many of them.
 */
export const USUAL_EVENTS = TOLD_EVENTS.filter(
	(name) => !name.startsWith("record."),
);

/** Largest number of events in one message. The message says how many there are besides. */
export const MAX_EVENTS = 2_000;
