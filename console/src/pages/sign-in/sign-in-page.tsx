import {
	Alert,
	Anchor,
	Button,
	Divider,
	Stack,
	Text,
	TextInput,
} from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError } from "../../api.ts";
import { signIn, verifyCode } from "../../auth.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { TextLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PresentPasswordInput } from "../../parts/password-fields.tsx";
import { queryClient } from "../../queries.ts";
import { Card } from "./card.tsx";
import { setupQuery, signInWaysQuery } from "./link.ts";
import { ProviderButton, problemInWords } from "./provider.tsx";

export function Page() {
	const [step, setStep] = useState<"password" | "code">("password");
	const { to } = useSearch({ from: "/sign-in" });
	const navigate = useNavigate();
	const enter = async () => {
		// The cache may contain data that another user has loaded in this browser.
		queryClient.clear();
		await navigate({ href: ownAddress(to), replace: true });
	};
	return (
		<Card>
			{step === "password" ? (
				<PasswordStep
					onDone={(outcome) =>
						outcome === "signed-in" ? void enter() : setStep("code")
					}
				/>
			) : (
				<CodeStep
					onDone={() => void enter()}
					onBack={() => setStep("password")}
				/>
			)}
		</Card>
	);
}

function PasswordStep({
	onDone,
}: {
	onDone: (outcome: Awaited<ReturnType<typeof signIn>>) => void;
}) {
	const { ended, problem, to } = useSearch({ from: "/sign-in" });
	const ways = useQuery(signInWaysQuery);
	const [showsForm, setShowsForm] = useState(false);
	const form = useForm({
		mode: "uncontrolled",
		initialValues: { email: "", password: "" },
		validate: {
			email: (text) => (text.trim() ? null : "Enter your e-mail address."),
			password: (text) => (text ? null : "Enter your password."),
		},
	});
	const signingIn = useMutation({
		mutationFn: ({ email, password }: { email: string; password: string }) =>
			signIn(email.trim(), password),
		onSuccess: onDone,
	});
	// Nothing jumps while the ways are asked for: most services have passwords for everybody.
	const { provider, has_passwords } = ways.data ?? {
		provider: null,
		has_passwords: true,
	};
	const hasForm = has_passwords || showsForm;
	return (
		<form
			onSubmit={form.onSubmit((values) => signingIn.mutate(values))}
			noValidate
		>
			<PageHeader title="Sign in" />
			<Stack>
				<SetupNeeded />
				{problem !== undefined && signingIn.isIdle && (
					<Alert
						variant="outline"
						color="red"
						role="alert"
						title="You are not signed in"
					>
						{problemInWords(problem)}
					</Alert>
				)}
				{ended && !problem && !signingIn.isError && (
					<Alert variant="outline" title="You have been signed out">
						Your session has expired or was ended elsewhere. Sign in to continue
						where you were.
					</Alert>
				)}
				{signingIn.isError && (
					<ErrorState
						title="You are not signed in"
						error={explain(
							signingIn.error,
							"The e-mail address or the password is wrong.",
						)}
					/>
				)}
				{provider && <ProviderButton provider={provider} to={to} />}
				{!hasForm ? (
					<Anchor
						component="button"
						type="button"
						size="sm"
						onClick={() => setShowsForm(true)}
					>
						Sign in with an emergency password
					</Anchor>
				) : (
					<>
						{provider && <Divider label="or with a password" />}
						<TextInput
							label="E-mail address"
							type="email"
							name="email"
							autoComplete="username"
							autoFocus
							key={form.key("email")}
							{...form.getInputProps("email")}
						/>
						<PresentPasswordInput
							key={form.key("password")}
							{...form.getInputProps("password")}
						/>
						<Button
							type="submit"
							loading={signingIn.isPending}
							{...(provider && { variant: "default" })}
						>
							Sign in
						</Button>
						<TextLink to="/forgot-password" size="sm" ta="center">
							Forgot your password?
						</TextLink>
					</>
				)}
			</Stack>
		</form>
	);
}

/**
 * Says that the service has to be set up first, because nobody can sign in before the first account
 * exists.
 */
function SetupNeeded() {
	const setup = useQuery(setupQuery);
	if (!setup.data?.setup_needed) return null;
	return (
		<Alert variant="outline" title="Nobody has an account yet">
			Open the setup link that the service printed when it started.{" "}
			<TextLink to="/setup" underline="always" fz="inherit">
				How to get one
			</TextLink>
		</Alert>
	);
}

function CodeStep({
	onDone,
	onBack,
}: {
	onDone: () => void;
	onBack: () => void;
}) {
	const [kind, setKind] = useState<"totp" | "recovery">("totp");
	const [code, setCode] = useState("");
	const verifying = useMutation({
		mutationFn: () =>
			verifyCode(
				kind,
				kind === "totp" ? code.replaceAll(/\D/g, "") : code.trim(),
			),
		onSuccess: onDone,
	});
	const change = () => {
		setKind(kind === "totp" ? "recovery" : "totp");
		setCode("");
		verifying.reset();
	};
	return (
		<form
			onSubmit={(event) => {
				event.preventDefault();
				if (code.trim()) verifying.mutate();
			}}
		>
			<PageHeader title="Two-factor code" />
			<Stack>
				{verifying.isError && (
					<ErrorState
						title="You are not signed in yet"
						error={explainCode(
							verifying.error,
							kind === "totp"
								? "This code is wrong, expired or already used. Enter the next code from your authenticator app."
								: "This recovery code is wrong or already used.",
						)}
					/>
				)}
				<Text size="sm">
					{kind === "totp"
						? "Enter the six digits that your authenticator app shows."
						: "Enter one of your recovery codes. Each works once."}
				</Text>
				<TextInput
					key={kind}
					label={kind === "totp" ? "Code" : "Recovery code"}
					inputMode={kind === "totp" ? "numeric" : "text"}
					autoComplete={kind === "totp" ? "one-time-code" : "off"}
					autoFocus
					required
					withAsterisk={false}
					value={code}
					onChange={(event) => setCode(event.currentTarget.value)}
				/>
				<Button type="submit" loading={verifying.isPending}>
					Continue
				</Button>
				<Anchor component="button" type="button" size="sm" onClick={change}>
					{kind === "totp"
						? "Use a recovery code instead"
						: "Use the authenticator app instead"}
				</Anchor>
				<Anchor component="button" type="button" size="sm" onClick={onBack}>
					Sign in as somebody else
				</Anchor>
			</Stack>
		</form>
	);
}

/**
 * Returns the same message whether the account does not exist or the password is wrong, so that
 * nobody can find out which addresses have accounts.
 */
function explain(error: unknown, wrong: string): unknown {
	const isWrong =
		error instanceof ApiError && (error.status === 401 || error.status === 400);
	return isWrong ? new ApiError(error.status, error.code, wrong) : error;
}

/**
 * Explains why a code was rejected. The user can correct a wrong code, but must sign in again if
 * too much time has passed.
 */
function explainCode(error: unknown, wrong: string): unknown {
	const isTooLate =
		error instanceof ApiError && error.code === "INVALID_TWO_FACTOR_COOKIE";
	return isTooLate
		? new ApiError(
				error.status,
				error.code,
				"The sign-in timed out. Start again with your password.",
			)
		: explain(error, wrong);
}

/**
 * Returns the address that the visitor wanted to open. It is always an address of this service,
 * never of another host.
 */
function ownAddress(to: string | undefined): string {
	const url = URL.parse(to ?? "/", location.origin);
	return url?.origin === location.origin
		? `/${url.pathname.replace(/^\/+/, "")}${url.search}${url.hash}`
		: "/";
}
