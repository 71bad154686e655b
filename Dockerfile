# The operator's image: one static program, no shell, no root. Built for the platform
# that is asked for, on the one that builds:
#
#   docker buildx build --platform linux/amd64,linux/arm64 --build-arg VERSION=v0.1.0 .
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG TARGETOS TARGETARCH VERSION=devel
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# -trimpath and no build id: the same source gives the same bytes.
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false \
    -ldflags="-s -w -buildid= -X github.com/corewire/kick/kick/operator.version=$VERSION" -o /kick ./cmd/kick

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /kick /kick
USER 65532:65532
ENTRYPOINT ["/kick"]
