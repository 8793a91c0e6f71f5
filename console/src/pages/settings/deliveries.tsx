import { Stack, Text, Title } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { DateTime } from "../../parts/time.tsx";

const STATES = {
	QUEUED: { tone: "neutral", label: "Queued" },
	DELIVERED: { tone: "good", label: "Delivered" },
	FAILED: { tone: "bad", label: "Given up" },
	NOT_NEEDED: { tone: "neutral", label: "No longer needed" },
} as const;

interface Delivery {
	id: string;
	state: keyof typeof STATES;
	attempts: number;
	next_attempt_at: string | null;
	duration_ms: number | null;
	answer_status: number | null;
	answer: string | null;
	failure: string | null;
}

/** Shows the last deliveries of a webhook or a channel. */
export function Deliveries<Row extends Delivery>({
	name,
	columns,
	found,
}: {
	/** The name of the webhook or the channel. */
	name: string;
	columns: readonly Column<Row>[];
	found: UseQueryResult<{ deliveries: Row[] }>;
}) {
	if (found.isError) {
		return <ErrorState error={found.error} onRetry={found.refetch} />;
	}
	const rows = found.data?.deliveries;
	return (
		<Stack component="section" aria-label="Last deliveries" gap="sm">
			<Title order={2}>Last deliveries</Title>
			<Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
				{name}
			</Text>
			{rows?.length === 0 && (
				<Text size="sm">There are no deliveries yet.</Text>
			)}
			{rows && rows.length > 0 && (
				<DataTable label="Deliveries" columns={columns} rows={rows} />
			)}
		</Stack>
	);
}

/** Tells how far a delivery is, and what the receiver answered. */
export function DeliveryAnswer({ of }: { of: Delivery }) {
	const { attempts, next_attempt_at: next } = of;
	const { tone, label } = STATES[of.state];
	const isRetried = of.state === "QUEUED" && attempts > 0;
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
			{of.state === "QUEUED" && next && (
				<Text size="xs" c="dimmed">
					{isRetried
						? `${attempts === 1 ? "1 attempt" : `${attempts} attempts`} so far. The next one is at`
						: "It is sent at"}{" "}
					<DateTime value={next} />.
				</Text>
			)}
		</>
	);
}
