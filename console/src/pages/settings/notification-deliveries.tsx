import { Code, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import type { Column } from "../../parts/data-table.tsx";
import { DateTime } from "../../parts/time.tsx";
import { operationQuery } from "../../queries.ts";
import { chatText } from "./chat-text.ts";
import { Deliveries, DeliveryAnswer } from "./deliveries.tsx";
import type { Channel } from "./notifications-page.tsx";

type Delivery = OutputOf<"listNotificationDeliveries">["deliveries"][number];

const WHAT: Record<string, string> = {
	TEST: "Test",
	EVENTS: "Events",
	CHAT_GIVEN_UP: "Disabled chat",
	DEVICE_ALERT: "Failed check",
	DEVICE_DIGEST: "Weekly mail",
	OVERDUE_WORK: "Weekly mail",
};

/** Shows the last messages and mails of a channel: what, who got it, when, and the answer. */
export function NotificationDeliveries({ channel }: { channel: Channel }) {
	const { organizationId } = useOrganization();
	const found = useQuery({
		...operationQuery("listNotificationDeliveries", {
			organization_id: organizationId,
			id: channel.id,
		}),
		// Messages and mails are sent in the background.
		refetchInterval: 3_000,
	});
	return <Deliveries name={channel.name} columns={COLUMNS} found={found} />;
}

const COLUMNS: Column<Delivery>[] = [
	{
		id: "what",
		header: "What",
		width: 200,
		cell: (row) => (
			<>
				<Text size="sm" fw={500}>
					{WHAT[row.what] ?? row.what}
					{row.event_count > 0 && ` (${row.event_count})`}
				</Text>
				<Text size="xs" c="dimmed">
					<DateTime value={row.created_at} />
				</Text>
			</>
		),
	},
	{
		id: "recipient",
		header: "To",
		width: 220,
		cell: ({ recipient }) => (
			<Text size="sm" style={{ overflowWrap: "anywhere" }}>
				{recipient}
			</Text>
		),
	},
	{
		id: "answer",
		header: "Answer",
		width: 260,
		cell: (row) => <DeliveryAnswer of={row} />,
	},
	{
		id: "body",
		header: "Message",
		cell: ({ body }) =>
			body && (
				<Code
					block
					fz="xs"
					mah={160}
					tabIndex={0}
					aria-label="Message"
					style={{
						whiteSpace: "pre-wrap",
						overflowWrap: "anywhere",
						overflowY: "auto",
					}}
				>
					{chatText(body)}
				</Code>
			),
	},
];
