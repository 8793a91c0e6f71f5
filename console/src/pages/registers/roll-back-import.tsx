import {
	Alert,
	Button,
	Checkbox,
	Group,
	List,
	Stack,
	Text,
} from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call, type OutputOf } from "../../api.ts";
import type { KindDescription } from "../../kind-description.ts";
import { countOf } from "../../kinds.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { forgetReadings, operationQuery } from "../../queries.ts";

type Plan = OutputOf<"rollBackImport">;

const MAX_NAMED = 20;

/** Shows what the rollback of an import would do, and rolls it back on confirmation. */
export function RollBackImport({
	id,
	kind,
	onClose,
	onDone,
}: {
	id: string;
	kind: KindDescription;
	onClose: () => void;
	onDone?: () => void;
}) {
	const [isSkipping, setSkipping] = useState(false);
	const trying = useQuery({
		...operationQuery("rollBackImport", { id }),
		staleTime: 0,
		gcTime: 0,
	});
	const rolling = useMutation({
		mutationFn: () =>
			call("rollBackImport", {
				id,
				dry_run: false,
				...(isSkipping && { skip_changed: true }),
			}),
		onSuccess: () => {
			notifications.show({ message: "The import is rolled back" });
			void forgetReadings();
			onDone?.();
			onClose();
		},
	});
	useReturnFocus();
	const plan = trying.data;
	const hasWork = plan && plan.deleted + plan.restored > 0;
	return (
		<Dialog opened onClose={onClose} title="Roll back this import?">
			<Stack>
				{trying.isError && <ErrorState error={trying.error} />}
				{trying.isPending && <RowsSkeleton rows={2} />}
				{plan && <Effects plan={plan} kind={kind} />}
				{plan && plan.kept > 0 && hasWork && (
					<Checkbox
						label={`Leave ${countOf(kind, plan.kept)} as ${plan.kept === 1 ? "it is" : "they are"}`}
						checked={isSkipping}
						onChange={({ currentTarget }) => setSkipping(currentTarget.checked)}
					/>
				)}
				{rolling.isError && (
					<ErrorState error={rolling.error} title="Nothing was rolled back" />
				)}
				<Group justify="flex-end">
					<Button variant="default" onClick={onClose} data-autofocus>
						Cancel
					</Button>
					<Button
						color="red.9"
						disabled={!hasWork || (plan.kept > 0 && !isSkipping)}
						loading={rolling.isPending}
						onClick={() => rolling.mutate()}
					>
						Roll back
					</Button>
				</Group>
			</Stack>
		</Dialog>
	);
}

function Effects({ plan, kind }: { plan: Plan; kind: KindDescription }) {
	const { deleted, restored, kept, kept_records } = plan;
	const parts = [
		deleted > 0 && `${countOf(kind, deleted)} will be deleted`,
		restored > 0 &&
			`${countOf(kind, restored)} will get ${restored === 1 ? "its" : "their"} former values`,
	].filter((part) => part !== false);
	return (
		<>
			<Text role="status">
				{parts.length > 0
					? `${parts.join(", and ")}.`
					: "Nothing can be rolled back."}
			</Text>
			{kept > 0 && (
				<Alert
					color="orange"
					variant="outline"
					title={`${countOf(kind, kept)} cannot be rolled back`}
				>
					<List size="sm">
						{kept_records.slice(0, MAX_NAMED).map(({ id, name, reason }) => (
							<List.Item key={id}>
								{name ?? "Unnamed"} {reason}
							</List.Item>
						))}
					</List>
					{kept > MAX_NAMED && (
						<Text size="sm">
							and {(kept - MAX_NAMED).toLocaleString()} more
						</Text>
					)}
				</Alert>
			)}
		</>
	);
}
