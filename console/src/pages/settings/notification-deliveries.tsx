import { Code, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { DateTime } from "../../parts/time.tsx";
import { operationQuery } from "../../queries.ts";
import type { Channel } from "./notifications-page.tsx";

type Delivery = OutputOf<"listNotificationDeliveries">["deliveries"][number];

const STATES = {
	QUEUED: { tone: "neutral", label: "Queued" },
	DELIVERED: { tone: "good", label: "Delivered" },
	FAILED: { tone: "bad", label: "Given up" },
	NOT_NEEDED: { tone: "neutral", label: "No longer needed" },
} as const;

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
	if (found.isError) {
		return <ErrorState error={found.error} onRetry={found.refetch} />;
	}
	const rows = found.data?.deliveries;
	return (
		<Stack component="section" aria-label="Last deliveries" gap="sm">
			<Title order={2}>Last deliveries</Title>
			<Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
				{channel.name}
			</Text>
			{rows?.length === 0 && (
				<Text size="sm">There are no deliveries yet.</Text>
			)}
			{rows && rows.length > 0 && (
				<DataTable label="Deliveries" columns={COLUMNS} rows={rows} />
			)}
		</Stack>
	);
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
		cell: (row) => <Answer of={row} />,
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
					{body}
				</Code>
			),
	},
];

function Answer({ of }: { of: Delivery }) {
	const { tone, label } = STATES[of.state];
	const isRetried = of.state === "QUEUED" && of.attempts > 0;
	return (
		<>
			<StatusBadge
				tone={isRetried ? "warning" : tone}
				label={isRetried ? "Waiting to retry" : label}
			/>
			{(of.failure || of.answer_status !== null) && (
				<Text size="xs" mt={4} style={{ overflowWrap: "anywhere" }}>
					{of.failure}
					{of.answer_status !== null &&
						`Status ${of.answer_status} after ${of.duration_ms} ms. ${of.answer ?? ""}`}
				</Text>
			)}
			{of.state === "QUEUED" && of.next_attempt_at && (
				<Text size="xs" c="dimmed">
					{isRetried ? "The next attempt" : "It is sent"} at{" "}
					<DateTime value={of.next_attempt_at} />.
				</Text>
			)}
		</>
	);
}
