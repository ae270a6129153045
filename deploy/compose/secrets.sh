#!/bin/sh
# The service `secrets` of docker-compose.yml runs this before all others. It fills the volume /run/secrets: each file is for
# one user only. A file of deploy/compose/secrets is copied there, and removed once it is gone. A password of the bundled
# servers that is not among them is drawn once, and kept until `down -v`.
set -eu
umask 077
WARREN=10001 KAFKA=1000 VALKEY=999 # users of the images
cd /run/secrets

# OWNER NAME <TEXT: renamed when it is whole, because services read it again when it changes.
put() {
    rm -f ".$2"
    cat >".$2"
    chmod 400 ".$2"
    chown "$1:$1" ".$2"
    mv ".$2" "$2"
}

# NAME: as given, else as drawn before, else drawn now. Hex needs no quotes in a URL or a JAAS file, and is base64 too.
password() {
    if [ -s "/given/$1" ]; then
        cat "/given/$1"
    elif [ -s "$1" ]; then
        cat "$1"
    else
        od -An -vtx1 -N24 /dev/urandom | tr -d ' \n'
    fi
}

for name in *; do
    case $name in
    bundled-*) ;;
    *) [ -f "/given/$name" ] || rm -f "$name" ;;
    esac
done
for file in /given/*; do
    [ ! -f "$file" ] || put $WARREN "${file##*/}" <"$file"
done

kafka=$(password bundled-kafka-password)
echo "$kafka" | put $WARREN bundled-kafka-password
put $KAFKA bundled-kafka.jaas <<EOF
KafkaServer {
  org.apache.kafka.common.security.plain.PlainLoginModule required user_warren="$kafka";
};
EOF

valkey=$(password bundled-valkey-password)
echo "$valkey" | put $WARREN bundled-valkey-password
echo "redis://:$valkey@valkey:6379/0" | put $WARREN bundled-valkey-url
# A cache: nothing is kept on disk.
put $VALKEY bundled-valkey.conf <<EOF
requirepass $valkey
save ""
maxmemory 192mb
maxmemory-policy allkeys-lru
EOF

webhook=$(password bundled-webhook-secret)
echo "whsec_${webhook#whsec_}" | put $WARREN bundled-webhook-secret
