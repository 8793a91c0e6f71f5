import type { ChannelKind } from "../../../../src/notifications/channel-kinds.ts";

/** What people call the kinds of channels, and what each of them does. */
export const CHANNEL_WORDS: Record<
	ChannelKind,
	{ label: string; means: string }
> = {
	DEVICE_OWNERS: {
		label: "Mail to the owners of devices",
		means:
			"Each owner of a device that fails a check gets a mail once a week, with a link to their own devices. They also get one at once when a device joins a nonconformity of severity Major. Owners whose devices are fine get none.",
	},
	OVERDUE_WORK: {
		label: "Mail to the owners of overdue work",
		means:
			"Each owner of overdue tasks, nonconformities, obligations or continual improvements gets a mail once a week.",
	},
	ADMINISTRATORS: {
		label: "Mail to the administrators",
		means:
			"Each administrator gets a mail about the chosen events, at most one an hour.",
	},
	SLACK: {
		label: "Slack",
		means:
			"An incoming webhook of Slack, or of a compatible program such as Mattermost. It gets at most one message a minute.",
	},
	TEAMS: {
		label: "Microsoft Teams",
		means:
			"The address of the Teams workflow “Post to a channel when a webhook request is received”. It gets at most one message a minute.",
	},
};

/** The days of the week, Monday first. */
export const WEEKDAYS = [
	"Monday",
	"Tuesday",
	"Wednesday",
	"Thursday",
	"Friday",
	"Saturday",
	"Sunday",
] as const;
