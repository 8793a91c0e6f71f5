import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { call } from "../api.ts";
import { forgetReadings } from "../queries.ts";
import { Dialog } from "./dialog.tsx";
import { ErrorState } from "./error-state.tsx";
import { LimitFields, limitInput, limitValues } from "./membership-limits.tsx";
import { useReturnFocus } from "./return-focus.ts";
import { type Member, RoleField } from "./roles.tsx";
import { useSaving } from "./use-saving.ts";

export function ChangeRole({
	member,
	isSelf,
	isLastAdmin,
	onClose,
}: {
	member: Member;
	isSelf: boolean;
	isLastAdmin: boolean;
	onClose: () => void;
}) {
	const initialValues = limitValues(member);
	const form = useForm({ initialValues });
	useReturnFocus();
	const saving = useSaving(
		form,
		(values) =>
			call("updateMember", {
				organization_id: member.organization_id,
				user_id: member.user_id,
				...limitInput(values),
			}),
		async () => {
			onClose();
			notifications.show({ message: `Role of ${member.name} changed` });
			await forgetReadings();
		},
	);
	const { role } = form.values;
	return (
		<Dialog opened onClose={onClose} title={`Role of ${member.name}`}>
			<form noValidate onSubmit={saving.submit}>
				<Stack>
					{saving.refusal && (
						<ErrorState
							error={saving.refusal}
							title="The role was not changed"
						/>
					)}
					{isLastAdmin ? (
						<LastAdministrator />
					) : (
						<Text size="sm" c="dimmed">
							The new role applies from the next request, for API tokens too.
						</Text>
					)}
					<RoleField
						value={form.values.role}
						onChange={(role) => form.setFieldValue("role", role)}
						error={form.errors.role}
					/>
					{!isSelf && <LimitFields form={form} />}
					{isSelf &&
						member.role === "admin" &&
						role !== "admin" &&
						!isLastAdmin && (
							<Alert color="yellow" variant="outline" title="This is you">
								You will no longer be an administrator, so you cannot undo this
								yourself.
							</Alert>
						)}
					<Group justify="flex-end">
						<Button variant="default" onClick={onClose}>
							Cancel
						</Button>
						<Button
							type="submit"
							loading={saving.isSaving}
							disabled={!form.isDirty() || isLastAdmin}
						>
							Change the role
						</Button>
					</Group>
				</Stack>
			</form>
		</Dialog>
	);
}

/**
 * Says that an organization needs an administrator, so that the reader learns this before the
 * server rejects the change.
 */
export function LastAdministrator() {
	return (
		<Alert
			color="yellow"
			variant="outline"
			title="You are the only administrator"
		>
			An organization needs an administrator. Make another member an
			administrator first.
		</Alert>
	);
}
