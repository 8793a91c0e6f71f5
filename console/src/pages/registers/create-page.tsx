import { notifications } from "@mantine/notifications";
import { useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { useOrganization } from "../../organization.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { isLinkedKind } from "../../parts/records/linkable.tsx";
import { useRecordNames } from "../../parts/records/record-names.ts";
import { addRecord } from "../../parts/records/register-calls.ts";
import { capitalized, useKind } from "../../parts/records/use-kind.ts";
import { forgetReadings } from "../../queries.ts";
import { toFormValues, toNew } from "./form-values.ts";
import { RecordForm } from "./record-form.tsx";

/** Adds a record to a register, with an empty form. */
export function Page() {
	const kind = useKind();
	const { organizationId, mayWrite } = useOrganization();
	const given: Record<string, string> = useSearch({ strict: false });
	const navigate = useNavigate();
	const { history } = useRouter();
	const title = `New ${kind.noun}`;
	const linkedIds = isLinkedKind(kind.kind)
		? (given.linked_to ?? "").split(",").filter(Boolean)
		: [];
	const names = useRecordNames(organizationId, linkedIds);
	const linked = linkedIds.flatMap((id) => names.get(id) ?? []);

	if (!mayWrite) {
		return (
			<>
				<PageHeader title={title} />
				<EmptyState title="You cannot add records">
					You can only view. Ask an administrator to make you a member.
				</EmptyState>
			</>
		);
	}
	return (
		<>
			<PageHeader
				title={title}
				description={
					linked.length > 0
						? `${kind.help} It will be linked to ${linked.join(" and ")}.`
						: kind.help
				}
			/>
			<RecordForm
				kind={kind}
				organizationId={organizationId}
				initial={toFormValues(kind, undefined, given)}
				isNew
				action={`Add the ${kind.noun}`}
				onSave={async (values, leave) => {
					const { id } = await addRecord(kind, organizationId, {
						...toNew(kind, values),
						...(linkedIds.length > 0 ? { linked_record_ids: linkedIds } : {}),
					});
					leave();
					void forgetReadings();
					notifications.show({ message: `${capitalized(kind.noun)} added` });
					await navigate({
						to: "/o/$org/r/$kind/$id",
						params: { org: organizationId, kind: kind.kind, id },
						replace: true,
					});
				}}
				onCancel={() => {
					if (history.canGoBack()) return history.back();
					void navigate({
						to: "/o/$org/r/$kind",
						params: { org: organizationId, kind: kind.kind },
					});
				}}
			/>
		</>
	);
}
