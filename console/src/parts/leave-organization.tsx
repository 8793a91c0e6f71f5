import { Button, Group, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { call } from "../api.ts";
import { forgetReadings } from "../queries.ts";
import { LastAdministrator } from "./change-role.tsx";
import { Dialog } from "./dialog.tsx";
import { ErrorState } from "./error-state.tsx";
import { useReturnFocus } from "./return-focus.ts";

/** Ends the user's own membership. */
export function LeaveOrganization({
	organization,
	isLastAdmin,
	onClose,
}: {
	organization: { id: string; name: string };
	isLastAdmin: boolean;
	onClose: () => void;
}) {
	const navigate = useNavigate();
	useReturnFocus();
	const leaving = useMutation({
		mutationFn: () =>
			call("leaveOrganization", { organization_id: organization.id }),
		onSuccess: async () => {
			// The user first leaves the organization's pages, which cannot be shown without a membership.
			await navigate({ to: "/account", ignoreBlocker: true });
			await forgetReadings();
			notifications.show({ message: `You have left ${organization.name}.` });
			await navigate({ to: "/", ignoreBlocker: true });
		},
	});
	return (
		<Dialog opened onClose={onClose} title={`Leave ${organization.name}?`}>
			<Stack>
				{leaving.isError && (
					<ErrorState
						error={leaving.error}
						title="You have not left the organization"
					/>
				)}
				{isLastAdmin ? (
					<LastAdministrator />
				) : (
					<Text size="sm">
						You and your API tokens lose access to the organization immediately.
						Only an administrator can invite you again.
					</Text>
				)}
				<Group justify="flex-end">
					<Button variant="default" onClick={onClose} data-autofocus>
						Cancel
					</Button>
					{!isLastAdmin && (
						<Button
							color="red.9"
							loading={leaving.isPending}
							onClick={() => leaving.mutate()}
						>
							Leave the organization
						</Button>
					)}
				</Group>
			</Stack>
		</Dialog>
	);
}
