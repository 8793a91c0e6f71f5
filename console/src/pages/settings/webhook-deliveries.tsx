import { Button, Code, Stack, Text, Title } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQuery } from "@tanstack/react-query";
import { call, type OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { DateTime } from "../../parts/time.tsx";
import { forgetReadings, operationQuery } from "../../queries.ts";
import type { Webhook } from "./webhooks-page.tsx";

type Delivery = OutputOf<"listWebhookDeliveries">["deliveries"][number];

const STATES = {
	QUEUED: { tone: "neutral", label: "Queued" },
	DELIVERED: { tone: "good", label: "Delivered" },
	FAILED: { tone: "bad", label: "Given up" },
} as const;

/** Shows the last deliveries of a webhook with request, answer and time. */
export function WebhookDeliveries({ webhook }: { webhook: Webhook }) {
	const { organizationId } = useOrganization();
	const found = useQuery({
		...operationQuery("listWebhookDeliveries", {
			organization_id: organizationId,
			id: webhook.id,
		}),
		// Deliveries are sent in the background.
		refetchInterval: 3_000,
	});
	if (found.isError) {
		return <ErrorState error={found.error} onRetry={found.refetch} />;
	}
	const resend = async ({ id }: Delivery) => {
		await call("resendWebhookDelivery", {
			organization_id: organizationId,
			id,
		}).then(
			() => notifications.show({ message: "The delivery is sent again." }),
			(error: Error) =>
				notifications.show({ color: "red", message: error.message }),
		);
		await forgetReadings();
	};
	const columns: Column<Delivery>[] = [
		{
			id: "event",
			header: "Event",
			width: 160,
			cell: (row) => (
				<>
					<Text size="sm" fw={500}>
						{row.event_type}
					</Text>
					<Text size="xs" c="dimmed">
						<DateTime value={row.created_at} />
					</Text>
				</>
			),
		},
		{
			id: "answer",
			header: "Answer",
			width: 300,
			cell: (row) => <Answer of={row} />,
		},
		{
			id: "request",
			header: "Request",
			cell: ({ body }) => (
				<Code
					block
					fz="xs"
					style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}
				>
					{body}
				</Code>
			),
		},
		{
			id: "actions",
			header: "Actions",
			align: "right",
			width: 120,
			cell: (row) => (
				<Button
					size="compact-sm"
					variant="default"
					onClick={() => resend(row)}
					aria-label={`Send ${row.event_type} again`}
				>
					Send again
				</Button>
			),
		},
	];
	return (
		<Stack component="section" aria-label="Last deliveries" gap="sm">
			<Title order={2}>Last deliveries</Title>
			<Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
				{webhook.url}
			</Text>
			{found.data?.deliveries.length === 0 && (
				<Text size="sm">There are no deliveries yet.</Text>
			)}
			{found.data && found.data.deliveries.length > 0 && (
				<DataTable
					label="Deliveries"
					columns={columns}
					rows={found.data.deliveries}
				/>
			)}
		</Stack>
	);
}

function Answer({ of }: { of: Delivery }) {
	const isRetried = of.state === "QUEUED" && of.attempted_at !== null;
	const { tone, label } = STATES[of.state];
	return (
		<>
			<StatusBadge
				tone={isRetried ? "warning" : tone}
				label={isRetried ? "Waiting to retry" : label}
			/>
			<Text size="xs" mt={4} style={{ overflowWrap: "anywhere" }}>
				{of.failure}
				{of.answer_status !== null &&
					`Status ${of.answer_status} after ${of.duration_ms} ms. ${of.answer ?? ""}`}
			</Text>
			{isRetried && of.next_attempt_at && (
				<Text size="xs" c="dimmed">
					{of.attempts === 1 ? "1 attempt" : `${of.attempts} attempts`} so far.
					The next one is at <DateTime value={of.next_attempt_at} />.
				</Text>
			)}
		</>
	);
}
