import { Button, Stack, Text } from "@mantine/core";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { DISABLED_AFTER_DAYS } from "../../../../src/outgoing/disabled-after.ts";
import { call, type OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { forgetReadings, operationQuery } from "../../queries.ts";
import { RowActions, SendingState, useTest } from "./outgoing.tsx";
import { WebhookDeliveries } from "./webhook-deliveries.tsx";
import { WebhookDialog } from "./webhook-dialog.tsx";

export type Webhook = OutputOf<"listWebhooks">["webhooks"][number];

/** Manages the addresses that get events. */
export function Page() {
	const { organizationId } = useOrganization();
	const [editing, setEditing] = useState<Webhook | "new" | null>(null);
	const [rotating, setRotating] = useState<Webhook | null>(null);
	const [deleting, setDeleting] = useState<Webhook | null>(null);
	const [shownId, setShownId] = useState<string | null>(null);
	const { data } = useSuspenseQuery(
		operationQuery("listWebhooks", { organization_id: organizationId }),
	);
	const shown = data.webhooks.find(({ id }) => id === shownId);
	const { error, test } = useTest(async ({ id }: Webhook) => {
		await call("testWebhook", { organization_id: organizationId, id });
		setShownId(id);
		return "A test event is queued.";
	});
	const columns: Column<Webhook>[] = [
		{
			id: "url",
			header: "Address",
			cell: ({ url, description, event_types }) => (
				<>
					<Text size="sm" fw={500} style={{ overflowWrap: "anywhere" }}>
						{url}
					</Text>
					<Text size="xs" c="dimmed">
						{description ? `${description} · ` : ""}
						{event_types.length === 1
							? "1 event"
							: `${event_types.length} events`}
					</Text>
				</>
			),
		},
		{
			id: "state",
			header: "Status",
			cell: (row) => (
				<SendingState
					of={row}
					givenUp={
						row.given_up_at &&
						`It failed for ${DISABLED_AFTER_DAYS} days. Correct the receiver, and then enable the webhook under Change.`
					}
				/>
			),
		},
		{
			id: "actions",
			header: "Actions",
			align: "right",
			cell: (row) => (
				<RowActions
					of={row.url}
					actions={{
						Test: () => test(row),
						Deliveries: () => setShownId(row.id === shownId ? null : row.id),
						Change: () => setEditing(row),
						"New secret": () => setRotating(row),
						Delete: () => setDeleting(row),
					}}
				/>
			),
		},
	];
	return (
		<>
			<PageHeader
				title="Webhooks"
				description="Assay sends events to these addresses, as signed requests."
				actions={
					<Button onClick={() => setEditing("new")}>Add a webhook</Button>
				}
			/>
			<Stack>
				{error && <ErrorState error={error} />}
				{data.webhooks.length > 0 ? (
					<DataTable label="Webhooks" columns={columns} rows={data.webhooks} />
				) : (
					<EmptyState title="No webhooks yet">
						Add one to tell another program when a check fails or a record
						changes.
					</EmptyState>
				)}
				{shown && <WebhookDeliveries key={shown.id} webhook={shown} />}
			</Stack>
			{editing && (
				<WebhookDialog
					webhook={editing === "new" ? undefined : editing}
					onClose={() => setEditing(null)}
				/>
			)}
			{rotating && (
				<WebhookDialog
					webhook={rotating}
					isRotation
					onClose={() => setRotating(null)}
				/>
			)}
			<Confirm
				opened={deleting !== null}
				onClose={() => setDeleting(null)}
				title="Delete the webhook?"
				action="Delete the webhook"
				onConfirm={async () => {
					if (!deleting) return;
					await call("deleteWebhook", {
						organization_id: organizationId,
						id: deleting.id,
					});
					await forgetReadings();
				}}
			>
				{deleting?.url} gets no further events. Its deliveries are deleted too.
			</Confirm>
		</>
	);
}
