import { Button, Group, Paper, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, call } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { FIELD_LABELS } from "../../parts/field-labels.ts";
import { ButtonLink, TextLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { SaveOnceQuestion, useSaveOnce } from "../../parts/save-once.tsx";
import { applyServerErrors } from "../../parts/server-errors.ts";
import { forgetReadings } from "../../queries.ts";
import {
	EnrollmentSteps,
	type IssuedToken,
	TOKEN_WORDS,
} from "./enrollment-steps.tsx";
import { OwnerField } from "./owner-field.tsx";
import { DEFAULT_DAYS, TokenDays } from "./token-days.tsx";

/** Adds a device by hand, and shows its enrollment token with the commands that enroll it. */
export function Page() {
	const { organizationId, mayAdmin } = useOrganization();
	const [issued, setIssued] = useState<(IssuedToken & Named) | null>(null);
	const once = useSaveOnce(issued?.enrollment_token);
	const back = (
		<ButtonLink
			to="/o/$org/devices"
			params={{ org: organizationId }}
			variant="default"
		>
			{issued ? "Back to the devices" : "Cancel"}
		</ButtonLink>
	);
	if (!mayAdmin) {
		return (
			<>
				<PageHeader title="Add a device" />
				<EmptyState title="Only administrators can add devices">
					Ask an administrator of your organization for an enrollment token.
				</EmptyState>
			</>
		);
	}
	if (!issued) {
		return (
			<>
				<PageHeader
					title="Add a device"
					description={
						<>
							You get a token for one device. The agent on the device uses it to
							enroll. For many devices, make{" "}
							<TextLink
								to="/o/$org/devices/enrollment-keys"
								params={{ org: organizationId }}
								underline="always"
								inherit
							>
								an enrollment key
							</TextLink>
							.
						</>
					}
				/>
				<Paper withBorder p="md" maw={640}>
					<AddForm onAdded={setIssued} cancel={back} />
				</Paper>
			</>
		);
	}
	return (
		<>
			<PageHeader
				title={`Enroll ${issued.device.name ?? "the device"}`}
				description="The device is added. Now enter the token on the device."
				actions={back}
			/>
			<Paper withBorder p="md" maw={860}>
				<Stack>
					<SaveOnceQuestion {...TOKEN_WORDS} once={once} />
					<EnrollmentSteps issued={issued} once={once} />
				</Stack>
			</Paper>
		</>
	);
}

interface Named {
	device: { name: string | null };
}

const initialValues = {
	name: "",
	owner_id: null as string | null,
	enrollment_token_expires_in_days: DEFAULT_DAYS,
};

function AddForm({
	onAdded,
	cancel,
}: {
	onAdded: (issued: IssuedToken & Named) => void;
	cancel: React.ReactNode;
}) {
	const { organizationId } = useOrganization();
	const [refusal, setRefusal] = useState<ApiError | null>(null);
	const form = useForm({ initialValues });
	const adding = useMutation({
		mutationFn: ({ name, ...values }: typeof initialValues) =>
			call("addDevice", {
				organization_id: organizationId,
				name: name.trim() || null,
				...values,
			}),
		onSuccess: (added) => {
			onAdded(added);
			return forgetReadings();
		},
		onError: (error) => {
			const rest = applyServerErrors(form, error, Object.keys(initialValues));
			setRefusal(rest ? new ApiError(400, "refused", rest) : null);
		},
	});
	return (
		<form
			noValidate
			onSubmit={form.onSubmit((values) => {
				setRefusal(null);
				adding.mutate(values);
			})}
		>
			<Stack>
				{refusal && (
					<ErrorState error={refusal} title="The device was not added" />
				)}
				<TextInput
					label={FIELD_LABELS.device.name}
					description="For example “Ada's laptop”. If you leave it empty, the hostname is shown."
					autoComplete="off"
					maw={420}
					{...form.getInputProps("name")}
				/>
				<OwnerField
					value={form.values.owner_id}
					onChange={(id) => form.setFieldValue("owner_id", id)}
					error={form.errors.owner_id}
				/>
				<TokenDays
					value={form.values.enrollment_token_expires_in_days}
					onChange={(days) =>
						form.setFieldValue("enrollment_token_expires_in_days", days)
					}
					error={form.errors.enrollment_token_expires_in_days}
				/>
				<Group mt="sm">
					<Button type="submit" loading={adding.isPending}>
						Add the device
					</Button>
					{cancel}
				</Group>
			</Stack>
		</form>
	);
}
